public import CRDTStore
public import WorkspaceModel

/// Writes random channels into a random authority document: honest changes, and claims by anybody
/// under any link.
public struct ChannelFuzzer {
    /// The document they are in.
    public var authority: AuthFuzzer
    /// The creations, in the order of writing.
    public private(set) var creations: [OperationID] = []
    /// What is said about each channel, in the order of writing.
    public private(set) var claims: [OperationID: [ChannelClaim]] = [:]

    /// The people of an `AuthFuzzer` of this seed, without channels.
    public init(seed: UInt64) { authority = AuthFuzzer(seed: seed) }

    /// Makes two channels, then takes `count` steps: most say something about one of them.
    public mutating func run(steps count: Int) {
        for _ in 0..<2 { make() }
        for _ in 0..<count {
            if authority.generator.oneIn(4) {
                authority.run(steps: 2)
            } else if authority.generator.oneIn(20) {
                make()
            } else {
                write()
            }
        }
    }

    /// A channel of somebody who may make one, mostly of a plain member.
    private mutating func make() {
        let past = authority.everything
        let grant = plainGrant(in: past) ?? authority.anyGrant(in: past)
        guard let made = authority.forge(knowing: past, under: grant, .createDocument) else {
            return
        }
        creations.append(made.id)
    }

    private mutating func plainGrant(in past: Set<OperationID>) -> AuthOperation? {
        let history = authority.history
        let plain = history.operations.filter { operation in
            guard past.contains(operation.id), case .admit(let invite, _, _, _) = operation.action,
                case .invite(let terms)? = history[invite]?.action
            else { return false }
            return terms.role == .member
        }
        return plain.randomElement(using: &authority.generator)
    }

    /// One claim about one channel by anybody.
    public mutating func write() {
        guard let creation = creations.randomElement(using: &authority.generator) else { return }
        let past = authority.generator.oneIn(2) ? recentPast() : authority.anyPast()
        guard past.contains(creation) else { return }
        let owner = authority.history[creation]?.grant
        let grant =
            authority.generator.oneIn(2)
            ? owner.flatMap { authority.history[$0] } : authority.anyGrant(in: past)
        write(about: creation, knowing: past, under: grant)
    }

    private mutating func recentPast() -> Set<OperationID> {
        let last = authority.history.operations.suffix(6)
            .randomElement(using: &authority.generator)
        return authority.history.closure(of: [last?.id].compactMap { $0 })
    }

    /// A random claim under `grant`.
    ///
    /// - Parameter link: the link it cites; without it the latest known, or now and then any.
    @discardableResult
    public mutating func write(
        about creation: OperationID, knowing past: Set<OperationID>, under grant: AuthOperation?,
        change: ChannelChange?? = nil, link: OperationID? = nil
    ) -> ChannelClaim? {
        let known = (claims[creation] ?? []).filter { past.contains($0.id) }
        let links = known.filter { $0.change?.isLink == true }.map(\.id)
        let cited =
            link
            ?? (authority.generator.oneIn(4)
                ? ([creation] + known.map(\.id)).randomElement(using: &authority.generator)
                : links.last)
        let change = change ?? anyChange()
        guard
            let written = authority.forge(
                knowing: past, under: grant, change == nil ? .deleteDocument : .setDocument)
        else { return nil }
        let claim = ChannelClaim(id: written.id, link: cited, change: change)
        claims[creation, default: []].append(claim)
        return claim
    }

    private mutating func anyChange() -> ChannelChange? {
        switch authority.generator.below(10) {
        case 0..<3: ChannelChange(owner: anybody())
        case 3..<5: ChannelChange(admins: [anybody(), anybody()].compactMap { $0 })
        case 5: ChannelChange(archived: authority.generator.oneIn(2))
        case 6: ChannelChange(history: UInt64(authority.generator.below(2)))
        case 7: nil
        default: ChannelChange()
        }
    }

    private mutating func anybody() -> MemberID? {
        let members = authority.history.operations.compactMap {
            authority.history.subject(of: $0.id)
        }
        return members.randomElement(using: &authority.generator)
    }
}
