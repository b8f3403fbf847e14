public import WorkspaceModel

/// One file of a message.
public struct AttachmentObject: ControlObject {
    /// Its id, `b_…`, even if its bytes are in the message.
    public let blob: String?
    /// What its sender calls it.
    public let name: String
    /// What its sender takes it for, such as `image/png`.
    public let type: String
    /// Bytes of the file.
    public let size: Int64
    /// How many of them are here.
    public var have: Int64 = 0
    /// How many devices are known to have all of it; `nil` where its channel asks for no copies.
    public var copies: Int64?
    /// How many are to.
    public var copiesWanted: Int64?

    /// A file without any bytes here.
    public init(blob: String?, name: String, type: String, size: Int64) {
        self.blob = blob
        self.name = name
        self.type = type
        self.size = size
    }

    /// All fields; `copies` and `copies_wanted` only where a channel asks for copies.
    public var json: JSONValue {
        var object: JSONObject = [
            "blob": JSONValue(orNull: blob), "name": .string(name), "type": .string(type),
            "size": .integer(size), "have": .integer(have),
        ]
        if let copies, let copiesWanted {
            object.append("copies", .integer(copies))
            object.append("copies_wanted", .integer(copiesWanted))
        }
        return .object(object)
    }
}

/// A file that is known here.
public struct FileObject: ControlObject {
    /// `b_…`.
    public let id: String
    /// What a message that can be read calls it.
    public var name: String?
    /// What its sender takes it for.
    public var type = "application/octet-stream"
    /// Bytes of the file.
    public let size: Int64
    /// How many of them are here.
    public var have: Int64 = 0
    /// Whether all of it is here.
    public var isComplete = false
    /// Whether it is being fetched.
    public var isWanted = false
    /// Whether it stays on purpose.
    public var isKept = false
    /// Whether it was put on this device.
    public var isOwn = false
    /// How many devices are known to have all of it, this one included.
    public var holders: Int64 = 0
    /// How many devices are asked for it now, while it is being fetched.
    public var sources: Int64 = 0
    /// Since when nobody is asked, milliseconds since 1970; `nil` while somebody is, or it is not wanted.
    public var waitingSince: Int64?
    /// How long a call waits from then on, milliseconds, unless it says so itself; `nil` like that.
    public var patience: Int64?
    /// How many parts were found to be damaged, `nil` where nobody has looked.
    public var bad: Int64?

    /// What to call it.
    public var title: String { name ?? id }

    /// All fields.
    public var json: JSONValue {
        var object: JSONObject = [
            "id": .string(id), "name": JSONValue(orNull: name), "type": .string(type),
            "size": .integer(size), "have": .integer(have), "complete": .bool(isComplete),
            "wanted": .bool(isWanted), "kept": .bool(isKept), "own": .bool(isOwn),
            "holders": .integer(holders), "sources": .integer(sources),
            "waiting_since": JSONValue(orNull: waitingSince),
            "patience_ms": JSONValue(orNull: patience),
        ]
        if let bad { object.append("bad", .integer(bad)) }
        return .object(object)
    }
}

/// The progress of a transfer (`transfer.progress`).
public struct TransferObject: ControlObject {
    /// `b_…`.
    public let blob: String
    /// Bytes of the file.
    public let size: Int64
    /// How many of them are here.
    public var have: Int64 = 0
    /// How many devices are asked for something now.
    public var sources: Int64 = 0
    /// Since when nobody is asked, milliseconds since 1970; `nil` while somebody is.
    public var waitingSince: Int64?
    /// Whether it waits for room on the disk.
    public var isPaused = false
    /// Whether all of it is here.
    public var isComplete = false

    /// All fields.
    public var json: JSONValue {
        [
            "blob": .string(blob), "size": .integer(size), "have": .integer(have),
            "sources": .integer(sources), "waiting_since": JSONValue(orNull: waitingSince),
            "paused": .bool(isPaused), "complete": .bool(isComplete),
        ]
    }
}

/// A device that has a file, or a part of it (`blob.holders`).
public struct FileHolderObject: ControlObject {
    /// `d_…`.
    public let device: String
    /// Whose it is, `nil` where that is not known.
    public var member: PersonObject?
    /// Whether it is this one.
    public var isSelf = false
    /// How many bytes of the file it has.
    public var have: Int64 = 0
    /// Whether that is all of it.
    public var isComplete = true
    /// Whether it said so just now.
    public var isLive = false
    /// When it said so, milliseconds since 1970; of this one now.
    public let at: Int64

    /// All fields.
    public var json: JSONValue {
        [
            "device": .string(device), "member": member?.json ?? .null, "self": .bool(isSelf),
            "complete": .bool(isComplete), "at": .integer(at), "have": .integer(have),
            "live": .bool(isLive),
        ]
    }
}

/// A file that was not sent with its message.
public struct RefusedFileObject: ControlObject {
    /// The id under which it was added.
    public let blob: String
    /// What it is called.
    public let name: String
    /// `file.twice` or `file.too_large`.
    public let reason: String

    /// All fields.
    public var json: JSONValue {
        ["blob": .string(blob), "name": .string(name), "reason": .string(reason)]
    }
}

/// A file that was saved.
public struct SavedFileObject: ControlObject {
    /// Where.
    public let path: String
    /// What it is called in its message.
    public let name: String
    /// Bytes of the file.
    public let size: Int64

    /// All fields.
    public var json: JSONValue {
        ["path": .string(path), "name": .string(name), "size": .integer(size)]
    }
}

/// A file some bytes of which follow over the connection.
public struct ReadFileObject: ControlObject {
    /// Which.
    public let file: FileObject
    /// The first byte that follows, from 0.
    public let offset: Int64
    /// How many follow.
    public let byteCount: Int64

    /// The file's fields, and which of its bytes follow.
    public var json: JSONValue {
        var object = file.json.objectValue ?? JSONObject()
        object.append("offset", .integer(offset))
        object.append("bytes", .integer(byteCount))
        return .object(object)
    }
}
