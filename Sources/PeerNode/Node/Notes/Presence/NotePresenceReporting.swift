import CRDTStore
import NoteText
import SyncProtocol
import WorkspaceModel

/// A transient event about who is in a note, for those who watch it.
struct NotePresenceEvent {
    let place: ViewStore.NotePlace
    /// The type of the event.
    let type: PassingEventType
    let data: JSONValue
}

/// Reports who else is in a note, and who has to be waited for.
extension NotePresenceSender {
    /// `{by, device, at}`; `null` where nobody asks others to wait.
    func lockObject(of place: ViewStore.NotePlace, in workspace: Workspace) -> JSONValue {
        guard let claimant = room.attendance.claimant(of: place) else { return .null }
        let member = claimant.member ?? workspace.member
        return [
            "by": core.membership.person(member, in: workspace).json,
            "device": .string(PublicID.device(claimant.device)),
            // The time comes from a peer, so it is capped at the present.
            "at": .integer(Int64(clamping: min(claimant.at, time.wall))),
        ]
    }

    // MARK: Telling

    /// The others who have a note open, with where they are.
    func participants(of place: ViewStore.NotePlace, in workspace: Workspace) -> JSONValue {
        .array(
            room.attendance.presence.present(in: place).map {
                data(of: $0, at: place, in: workspace)
            })
    }

    /// The reports about who is in notes, returned once.
    func takePresenceEvents() -> [NotePresenceEvent] {
        var news: [NotePresenceEvent] = []
        func add(_ type: PassingEventType, _ data: JSONValue, of place: ViewStore.NotePlace) {
            guard room.attendance.watched.contains(place) else { return }
            news.append(NotePresenceEvent(place: place, type: type, data: data))
        }
        for (place, guest) in room.attendance.presence.left {
            guard let workspace = workspace(of: place) else { continue }
            var gone = guest
            (gone.update.selection, gone.draft, gone.update.isThere) = (nil, nil, false)
            add(.noteCursor, data(of: gone, at: place, in: workspace), of: place)
        }
        for (place, links) in room.attendance.presence.changed.sorted(by: { $0.key < $1.key }) {
            guard let workspace = workspace(of: place) else { continue }
            let devices = Set(
                links.compactMap { room.attendance.presence.guests[place]?[$0]?.device })
            for guest in room.attendance.presence.present(in: place)
            where devices.contains(guest.device) {
                add(.noteCursor, data(of: guest, at: place, in: workspace), of: place)
            }
        }
        (room.attendance.presence.left, room.attendance.presence.changed) = ([], [:])
        for place in room.attendance.watched.sorted() {
            let now = room.attendance.claimant(of: place)?.device
            guard now != room.attendance.presence.toldClaims[place],
                let workspace = workspace(of: place)
            else {
                continue
            }
            room.attendance.presence.toldClaims[place] = now
            let lock = lockObject(of: place, in: workspace)
            add(
                .noteLock,
                [
                    "id": .string(PublicID.note(place.key)), "lock": lock,
                    "self": .bool(now != nil && now == home?.device),
                ], of: place)
        }
        return news
    }

    private func workspace(of place: ViewStore.NotePlace) -> Workspace? {
        store.operations.document(numbered: place.document)
            .flatMap { core.workspaces[$0.workspace] }
    }

    /// `{id, by, device, self, there, version, at, length, patch}`: where somebody is, in the text of
    /// `version` after `patch`, which is what they have not published.
    private func data(
        of guest: NotePresence.Guest, at place: ViewStore.NotePlace, in workspace: Workspace
    ) -> JSONValue {
        var data: JSONObject = [
            "id": .string(PublicID.note(place.key)),
            "by": core.membership.person(guest.member, in: workspace).json,
            "device": .string(PublicID.device(guest.device)),
            "self": .bool(guest.member == workspace.member), "there": .bool(guest.update.isThere),
            "version": .null, "at": .null, "length": .null, "patch": [],
        ]
        guard guest.update.isThere, let note = room.texts.open[place] else { return .object(data) }
        data["version"] = .string(note.version.text)
        let overlay = guest.draft.flatMap { note.note.overlay(of: $0) }
        data["patch"] = NotePatch.json(overlay?.patches ?? [])
        // A cursor that refers to something hidden has no position.
        guard let selection = guest.update.selection,
            let one = note.note.position(of: selection.start.anchor, in: overlay ?? .init()),
            let other = note.note.position(of: selection.end.anchor, in: overlay ?? .init())
        else { return .object(data) }
        data["at"] = .integer(Int64(min(one, other)))
        data["length"] = .integer(Int64(abs(one - other)))
        return .object(data)
    }
}

extension NotePatch {
    /// `[[at, deleted, inserted]…]`.
    static func json(_ patches: [NotePatch]) -> JSONValue {
        .array(
            patches.map {
                [.integer(Int64($0.at)), .integer(Int64($0.deleted)), .string($0.inserted)]
            })
    }
}
