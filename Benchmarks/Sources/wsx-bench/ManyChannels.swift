import WorkspaceModel

/// A workspace whose messages lie in 100 channels.
enum ManyChannels {
    static let count = 100

    /// `general`, `c1` to `c99`.
    static func name(_ number: Int) -> JSONValue {
        number % count == 0 ? "general" : .string("c\(number % count)")
    }

    static func make(_ socket: ControlSocket) throws {
        for number in 1..<count {
            _ = try socket.call("channel.create", ["name": name(number)])
        }
    }

    /// Makes the channels, and writes message after message to one after the other.
    static func write(
        _ messages: Int, to socket: ControlSocket, _ text: (Int) -> String
    ) throws {
        try make(socket)
        try fill(messages, to: socket, text)
    }

    static func fill(
        _ messages: Int, to socket: ControlSocket, _ text: (Int) -> String
    ) throws {
        try socket.pipeline(messages, window: SendsBench.window) { number in
            socket.request(
                "message.send", ["channel": name(number), "text": .string(text(number))])
        }
    }
}
