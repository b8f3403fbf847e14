import WorkspaceModel

/// Unlocks a home at its start, before there is a loop that could wait for anything.
enum StartUnlocking {
    /// Opens a locked host by a passphrase.
    ///
    /// - Returns: what it wants to be done, once there is a loop.
    /// - Throws: `wrong_secret`, `rate_limited`, and why else it stays locked.
    static func unlock(
        _ host: NodeHost, _ passphrase: String?
    ) throws(NodeError) -> [NodeEffect] {
        guard let passphrase, !host.wantsNetwork else { return [] }
        // No connection has this number.
        let call = CallID(connection: 0, number: 0)
        var effects = host.turn(
            [
                .call(
                    call, method: "session.unlock",
                    arguments: ["passphrase": .string(passphrase)])
            ], at: now)
        for case .deriveKeys(call, let job) in effects {
            effects += host.turn([job.run(for: call)], at: now)
        }
        for case .answer(call, .failure(let error)) in effects { throw error }
        return effects.filter { effect in
            switch effect {
            case .answer, .deriveKeys: false
            default: true
            }
        }
    }

    private static var now: TurnTime {
        TurnTime(wall: WallClock.milliseconds(), monotonic: MonotonicClock.milliseconds())
    }
}
