import CRDTStore
import WorkspaceModel

/// Finds whom a text mentions when it is written here: `@Mina`, `@u_…`, `@channel`, `@here`,
/// `@everyone`.
///
/// Operations carry ids, so a later change of name changes nothing, and nodes need not agree on how
/// names are compared.
struct MentionFinder {
    private enum Meaning {
        case members([MemberID])
        case everybody
        case former(Former)
    }

    /// A name in a text that nobody has now, with those who had it.
    struct Former: Equatable {
        let name: String
        let holders: [MemberID]
    }

    /// Fewer letters of an id behind its `u_` mean nobody.
    private static let idLettersMin = 6
    /// All letters of an id behind its `u_`.
    private static let idLetters = 26

    private var meanings: [String: Meaning] = [:]
    private var formerMeanings: [String: [MemberID]] = [:]
    private let ids: [(text: String, member: MemberID)]
    /// Folded names, to find a unique prefix.
    private let keys: [(key: String, member: MemberID)]
    /// Characters of the longest name.
    private var longest = 0

    /// Looks for these people. Two of one name are both meant.
    ///
    /// - Parameter formerly: former names, of which those are used that nobody has here now.
    init(
        _ people: [(member: MemberID, name: String)],
        formerly: [(member: MemberID, name: String)] = []
    ) {
        ids = people.map { (PublicID.member($0.member), $0.member) }
        keys = people.filter { NewNames.isPerson($0.name) }.compactMap { person in
            NameFolding.key(of: person.name).map { ($0, person.member) }
        }
        for (member, name) in people where NewNames.isPerson(name) {
            guard let key = NameFolding.key(of: name), !key.isEmpty else { continue }
            if case .members(let others)? = meanings[key] {
                meanings[key] = .members(others + [member])
            } else {
                meanings[key] = .members([member])
            }
            longest = max(longest, name.count)
        }
        for (word, members) in Self.firstNames(people) where meanings[word] == nil {
            guard members.count == 1 else { continue }
            meanings[word] = .members(members)
        }
        for word in NewNames.everybody {
            meanings[word] = .everybody
            longest = max(longest, word.count)
        }
        for (member, name) in formerly {
            guard let key = NameFolding.key(of: name), !key.isEmpty, meanings[key] == nil else {
                continue
            }
            formerMeanings[key, default: []].append(member)
            longest = max(longest, name.count)
        }
    }

    /// Whom the first word of a name of several words may mean, by its folded form.
    private static func firstNames(
        _ people: [(member: MemberID, name: String)]
    ) -> [String: [MemberID]] {
        var found: [String: [MemberID]] = [:]
        for (member, name) in people {
            guard NewNames.isPerson(name), let first = PartOfName.firstWord(of: name),
                let key = NameFolding.key(of: first), !key.isEmpty
            else { continue }
            found[key, default: []].append(member)
        }
        return found
    }

    /// Whom `text` mentions: at each `@` the longest name that occurs there.
    func mentions(in text: String) -> Mentions { look(in: text).mentions }

    /// The same, and former names where no current name occurs.
    func look(in text: String) -> (mentions: Mentions, former: [Former]) {
        var members: [MemberID] = []
        var former: [Former] = []
        var isEverybody = false
        var signs = 0
        var before: Character?
        var rest = Substring(text)
        while let first = rest.popFirst() {
            defer { before = first }
            guard first == "@", before.map(Self.isWord) != true else { continue }
            signs += 1
            guard signs <= Limits.mentionSignsMax else { break }
            switch meaning(at: rest) {
            case .members(let found): members += found
            case .everybody: isEverybody = true
            case .former(let found): if !former.contains(found) { former.append(found) }
            case nil: break
            }
        }
        return (Mentions(members, everybody: isEverybody), former)
    }

    private func meaning(at rest: Substring) -> Meaning? {
        if let named = member(at: rest) { return .members([named]) }
        let candidate = Array(rest.prefix(longest + 1))
        let today = longestName(in: candidate) { meanings[$0] }
        // The first word of somebody's name is not meant where more words were somebody's name.
        if !formerMeanings.isEmpty,
            let former = longestName(in: candidate, { formerMeanings[$0] }),
            today.map({ $0.name.count < former.name.count }) ?? true
        {
            return .former(Former(name: former.name, holders: former.meaning))
        }
        return today?.meaning ?? beginning(at: rest)
    }

    /// The person whose name is the only one that starts with a word of two or more letters.
    private func beginning(at rest: Substring) -> Meaning? {
        let word = rest.prefix(longest + 1).prefix { Self.isWord($0) }
        guard word.count >= 2, let short = NameFolding.key(of: String(word)), !short.isEmpty else {
            return nil
        }
        let found = keys.filter { $0.key.hasPrefix(short) }
        return found.count == 1 ? .members(found.map(\.member)) : nil
    }

    /// The meaning of the longest name that a text starts with.
    private func longestName<Found>(
        in candidate: [Character], _ meaning: (String) -> Found?
    ) -> (name: String, meaning: Found)? {
        for count in stride(from: min(longest, candidate.count), to: 0, by: -1) {
            // `@Minaret` does not mean Mina. Other scripts hang endings on names.
            if count < candidate.count, Self.isWord(candidate[count]),
                Self.isWord(candidate[count - 1])
            {
                continue
            }
            let name = String(candidate[..<count])
            guard let key = NameFolding.key(of: name) else { continue }
            if let found = meaning(key) { return (name, found) }
        }
        return nil
    }

    /// The person with an id, or with a unique prefix of one: so one of two people with the same
    /// name can be mentioned.
    private func member(at rest: Substring) -> MemberID? {
        guard rest.utf8.starts(with: "u_".utf8) else { return nil }
        let text = rest.prefix(2 + Self.idLetters + 1).prefix { Self.isWord($0) }
        guard (2 + Self.idLettersMin...2 + Self.idLetters).contains(text.utf8.count) else {
            return nil
        }
        let found = ids.filter { $0.text.utf8.starts(with: text.utf8) }
        return found.count == 1 ? found.first?.member : nil
    }

    /// Letters of the Latin script and digits, which continue an address or a longer word.
    private static func isWord(_ character: Character) -> Bool {
        guard let scalar = character.unicodeScalars.first, scalar.value < 0x250 else {
            return false
        }
        return character.isLetter || character.isNumber || character == "_"
    }
}

extension Messages {
    /// Whether there is the sign in a text with which every mention begins.
    private static func mayMention(_ text: String) -> Bool {
        let sign = UInt8(ascii: "@")
        return text.utf8.withContiguousStorageIfAvailable { $0.contains(sign) }
            ?? text.utf8.contains(sign)
    }

    /// Whom a text that is written here mentions. Code mentions nobody.
    func mentions(
        in text: String, _ format: ContentPayload.Message.Format, _ channel: Workspace.Channel,
        of workspace: Workspace
    ) throws(NodeError) -> Mentions {
        guard format != .code, Self.mayMention(text) else { return .none }
        let people =
            channel.privateMembership.map { $0.roles.keys.sorted() }
            ?? workspace.members.filter { $0.role <= .member }.map(\.member)
        let names = people.map { (member: $0, name: workspace.displayName(of: $0)) }
        return try stored { () throws(StorageError) -> Mentions in
            var formerly: [(member: MemberID, name: String)] = []
            for member in people {
                for former in try core.profiles.formerNames(of: member, in: workspace) {
                    formerly.append((member, former.name))
                }
            }
            let found = MentionFinder(names, formerly: formerly).look(in: text)
            return try adding(found.former, to: found.mentions, in: workspace)
        }
    }

    /// Mentions whom former names lead to as well: one person each, where nobody is called so, in the
    /// channel or outside it.
    private func adding(
        _ former: [MentionFinder.Former], to mentions: Mentions, in workspace: Workspace
    ) throws(StorageError) -> Mentions {
        var members = mentions.members
        let all = try core.profiles.formerHolders(ofEach: former.map(\.name), in: workspace)
        for name in former {
            guard let only = workspace.people.foldedNames.key(of: name.name).flatMap({ all[$0] }),
                name.holders == [only]
            else { continue }
            members.append(only)
            core.profiles.note(FormerNameTaken(name: name.name, member: only, workspace: workspace))
        }
        return Mentions(members, everybody: mentions.isEverybody)
    }
}
