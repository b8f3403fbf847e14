public import WorkspaceModel

extension Command {
    /// What a call changes. Each case is heavier than the one before it.
    public enum Effect: Comparable, Sendable {
        /// Nothing that lasts, so that it can be asked twice.
        case reads
        /// Something besides the store: a file, the keys in memory, a stream. Writes that it would
        /// also make can be skipped when writing has stopped.
        case writesBeside
        /// Rows of this node's store. It signs nothing.
        case writes
        /// The logs of this device: it signs operations, which others get.
        case signs

        /// As documentation and `rpc.discover` call it.
        public var words: String {
            switch self {
            case .reads: "reads"
            case .writesBeside: "writes beside the store"
            case .writes: "writes"
            case .signs: "signs"
            }
        }
    }

    /// What a call is about.
    public enum Scope: String, Sendable {
        /// This node, whatever workspaces it is in.
        case node
        /// One workspace: the one that is named, or the selected one.
        case workspace
        /// One channel or direct conversation, or a message in it.
        case conversation
    }

    /// Whether a locked node does it.
    public enum WhileLocked: Sendable {
        /// It is done, with nothing in the answer that needs keys.
        case answers
        /// It is `locked`.
        case refused
    }

    /// What a method is about; `nil` where there is no such method.
    public static func scope(of method: String) -> Scope? { known(method)?.scope }

    /// What a call with these arguments changes: some parameters make it write.
    ///
    /// - Parameter given: from outside, and not checked yet.
    public func effect(of given: JSONObject) -> Effect {
        parameters.reduce(effect) { heaviest, parameter in
            guard let heavier = parameter.heavier, let value = given[parameter.name],
                !value.isNull, heavier.values.isEmpty || heavier.values.contains(value)
            else { return heaviest }
            return max(heaviest, heavier.effect)
        }
    }

    /// Whether a call needs no room in the store, so that it is done although nothing can be written.
    func isDoneUnwritten(_ given: JSONObject) -> Bool { effect(of: given) < .writes }

    /// Whether a call is asked once more where the turn that answered it was lost: it changes
    /// nothing, or needs nothing of what was lost.
    func isAskedAgain(_ given: JSONObject) -> Bool { effect(of: given) == .reads || !needsStore }

    /// Whether it says how the node is, also where the store cannot be read.
    var tellsHowItIs: Bool { !needsStore && effect == .reads }

    /// The method of this name, where there is one.
    ///
    /// - Parameter name: from outside.
    static func known(_ name: String) -> Command? {
        do throws(NodeError) { return try method(name) } catch { return nil }
    }
}

/// The effect of a call with a parameter that makes it do more.
public struct HeavierEffect: Sendable {
    /// What it changes then.
    public let effect: Command.Effect
    /// The values with which it does; empty for all.
    public let values: [JSONValue]
}

extension Parameter {
    /// The same parameter, with which a call writes to the store.
    ///
    /// - Parameters:
    ///   - values: the values with which it does; without any, all.
    ///   - effect: what it changes then.
    func writing(
        _ values: JSONValue..., effect: Command.Effect = .writes
    ) -> Parameter {
        var changed = self
        changed.definition.heavier = HeavierEffect(effect: effect, values: values)
        return changed
    }
}
