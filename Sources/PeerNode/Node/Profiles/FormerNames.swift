import CRDTStore
import WorkspaceModel

/// The meaning of a call's name that somebody had before.
struct FormerNameTaken {
    /// As it was typed.
    let name: String
    let member: MemberID
    let workspace: Workspace
}

/// A former name identifies its member for 30 days, unless somebody else has it now (PROTOCOL.md,
/// 3.2).
///
/// It is a function of the assertions in the profile document and their times: the same on every
/// device and after every start. Only names that nobody has now are looked up, so this costs
/// nothing in the usual case.
extension Profiles {
    /// The names that a member had within the last 30 days and no longer has, the latest first, at
    /// most `Limits.formerNamesMax`.
    func formerNames(
        of member: MemberID, in workspace: Workspace
    ) throws(StorageError) -> [FormerName] {
        let place = ProfileRegisters.Place(member: member, subject: .name)
        let latest = workspace.people.registers.latest(place)
        guard !latest.assertions.isEmpty else { return [] }
        let current = workspace.people.registers.current(place)?.id
        let known = workspace.people.formerNames.words[member] ?? [:]
        var opened: [OperationID: String] = [:]
        var end: HybridTimestamp?
        var found: [FormerName] = []
        for word in latest.assertions.reversed() {
            // A name from a clock that was ahead may be overwritten by one with an earlier date.
            let until = end ?? word.timestamp
            end = word.timestamp
            guard word.id != current, isRecent(until) else { continue }
            var name = known[word.id]
            if name == nil { name = try value(word, at: place, workspace) }
            guard let name else { continue }
            opened[word.id] = name
            found.append(FormerName(name: name, until: until.milliseconds))
        }
        workspace.people.formerNames.words[member] = opened.isEmpty ? nil : opened
        if latest.isWhole, let end, isRecent(end),
            let name = admittedName(of: member, in: workspace)
        {
            found.append(FormerName(name: name, until: end.milliseconds))
        }
        return told(found, now: workspace.displayName(of: member), in: workspace)
    }

    /// Each name once that could be given here and is not the present one.
    private func told(
        _ names: [FormerName], now: String, in workspace: Workspace
    ) -> [FormerName] {
        var seen: Set<String> = []
        if let key = workspace.people.foldedNames.key(of: now) { seen.insert(key) }
        return names.filter { former in
            guard NewNames.isPerson(former.name),
                let key = workspace.people.foldedNames.key(of: former.name)
            else { return false }
            return seen.insert(key).inserted
        }
    }

    /// Whether that is recent enough for a former name to count. A time in the future does not
    /// count: otherwise a name would last as long as its owner writes.
    private func isRecent(_ time: HybridTimestamp) -> Bool {
        !time.isIncredible(at: self.time.wall)
            && self.time.wall <= time.milliseconds &+ Limits.formerNameMilliseconds
    }

    /// The name in a member's admission.
    private func admittedName(of member: MemberID, in workspace: Workspace) -> String? {
        if let known = workspace.people.formerNames.admitted[member] { return known }
        for id in workspace.authority.entrances {
            guard case .admit(let joiner, _, _, _)? = workspace.authority[id]?.payload,
                joiner.member == member, let name = workspace.name(joiner.name, key: 7, of: id)
            else { continue }
            workspace.people.formerNames.admitted[member] = name
            return name
        }
        return nil
    }

    // MARK: Whom they lead to

    /// Current members who had the name, where it is free; ascending.
    func formerHolders(
        of name: String, in workspace: Workspace
    ) throws(StorageError) -> [MemberID] {
        guard let key = workspace.people.foldedNames.key(of: name), !key.isEmpty else { return [] }
        return free(key, of: try formerHolders(in: workspace)[key] ?? [], in: workspace)
    }

    /// The same for several names, by their folded forms: those that one current member had and
    /// that are free. All former names are scanned once, however many names a text contains.
    func formerHolders(
        ofEach names: [String], in workspace: Workspace
    ) throws(StorageError) -> [String: MemberID] {
        guard !names.isEmpty else { return [:] }
        let all = try formerHolders(in: workspace)
        var found: [String: MemberID] = [:]
        for key in Set(names.compactMap { workspace.people.foldedNames.key(of: $0) }) {
            guard let had = all[key], had.count == 1 else { continue }
            found[key] = free(key, of: had, in: workspace).first
        }
        return found
    }

    /// Current members, by their folded former names.
    private func formerHolders(
        in workspace: Workspace
    ) throws(StorageError) -> [String: [MemberID]] {
        var found: [String: [MemberID]] = [:]
        for standing in workspace.visibleMembers {
            for former in try formerNames(of: standing.member, in: workspace) {
                guard let key = workspace.people.foldedNames.key(of: former.name) else { continue }
                found[key, default: []].append(standing.member)
            }
        }
        return found
    }

    /// The former holders of a name, ascending, if it is free: no other current member has it, also
    /// as a first name or a prefix of a name, and no former member whom it may still mean.
    private func free(
        _ key: String, of holders: [MemberID], in workspace: Workspace
    ) -> [MemberID] {
        guard !holders.isEmpty else { return [] }
        let isTaken = workspace.visibleMembers.contains { standing in
            let called = workspace.displayName(of: standing.member)
            guard let now = workspace.people.foldedNames.key(of: called) else { return false }
            if now == key { return true }
            guard !holders.contains(standing.member) else { return false }
            let first = PartOfName.firstWord(of: called)
            return key.count >= 2 && now.hasPrefix(key)
                || first.flatMap { workspace.people.foldedNames.key(of: $0) } == key
        }
        return !isTaken && !goneNames(of: workspace).contains(key) ? holders.sorted() : []
    }

    private func goneNames(of workspace: Workspace) -> Set<String> {
        if let known = workspace.judged.derived.goneNames { return known }
        // Works the names of all out at once: one by one it would take as long as there are people.
        _ = workspace.hasTwin(workspace.member)
        let names = core.membership.formerMembers(of: workspace).compactMap {
            workspace.people.foldedNames.key(of: workspace.displayName(of: $0))
        }
        workspace.judged.derived.goneNames = Set(names)
        return Set(names)
    }

    /// The one of `people` whom a name leads to that nobody has now.
    ///
    /// - Parameter isTaken: whether a former name is enough. A command that grants or revokes a
    ///   right needs the current name: people choose their names, and a former one may have been
    ///   anybody's.
    /// - Throws: `ambiguous` where two had it, and `unknown_user` with who is meant where that is not
    ///   enough.
    func former(
        _ name: String, among people: [MemberID], in workspace: Workspace, field: String,
        isTaken: Bool
    ) throws(NodeError) -> MemberID? {
        let holders = try stored { () throws(StorageError) in
            try formerHolders(of: name, in: workspace)
        }
        guard let only = holders.first(where: people.contains) else { return nil }
        guard holders.count == 1 else {
            throw .ambiguous(
                name, candidates: holders.map { core.membership.person($0, in: workspace).json },
                field: field)
        }
        let taken = FormerNameTaken(name: name, member: only, workspace: workspace)
        guard isTaken else {
            var error = NodeError.unknownUser(
                name, field: field,
                hint: "\(NodeError.quoted(workspace.displayName(of: only))) was called so")
            error.details["formerly"] = .array([json(of: taken)])
            throw error
        }
        note(taken)
        return only
    }

    // MARK: Telling

    /// Notes for the answer whom a former name was taken for.
    func note(_ taken: FormerNameTaken) {
        let isKnown = formerNamesTaken.contains {
            $0.member == taken.member && NameFolding.matches($0.name, taken.name)
        }
        if !isKnown { formerNamesTaken.append(taken) }
    }

    /// An answer with the former names by which the call meant somebody, where there are any.
    func tellingFormerNames(_ answer: JSONValue) -> JSONValue {
        guard !formerNamesTaken.isEmpty, var object = answer.objectValue else { return answer }
        object["formerly"] = .array(formerNamesTaken.map { json(of: $0) })
        formerNamesTaken = []
        return .object(object)
    }

    private func json(of taken: FormerNameTaken) -> JSONValue {
        [
            "name": .string(taken.name),
            "member": core.membership.person(taken.member, in: taken.workspace).json,
        ]
    }
}
