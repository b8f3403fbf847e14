import CRDTStore
import WorkspaceModel

/// Implements the commands that find channels, members, messages and notes.
///
/// Channels and members are scanned here. For messages and notes the index proposes candidates,
/// newest first, and each is decrypted and verified before it is returned: what is hidden, deleted
/// or changed by now is never found, whatever the index says.
final class FindingHandler: CorePart, SearchCommands {
    func search(_ request: SearchRequest, _ scope: CallScope) throws(NodeError) -> CommandOutcome {
        let workspace: Workspace = try core.queries.workspace(scope)
        let query = try checked(request.query)
        let cursor = try cursor(of: request)
        let kinds = Set(
            request.kinds.isEmpty
                ? request.isAboutMessages
                    ? ["message", "note"] : ["message", "note", "channel", "member"]
                : request.kinds)
        let isIndexed = kinds.contains("message") || kinds.contains("note")
        var call = try searchCall(request, query, kinds, in: workspace)
        if case .messages(let position)? = cursor {
            guard !request.isRanked else { throw badCursor }
            call.before = position
        } else if case .best(let count)? = cursor {
            guard request.isRanked else { throw badCursor }
            call.skipped = count
        } else {
            let heads = heads(query, kinds, request, in: workspace)
            var start = 0
            if case .heads(let count)? = cursor { start = min(count, heads.count) }
            var end = min(heads.count, start + request.limit)
            var room = Limits.searchPageBytesMax
            try stored { () throws(StorageError) in
                for (index, head) in heads[start..<end].enumerated() {
                    for hit in try hit(head, in: workspace) {
                        call.hits.append(hit)
                        room -= hit.json.bytes.count
                    }
                    // One too many does no harm: there is room for it beside the others.
                    if room < 0 { end = start + index + 1 }
                    if room < 0 { break }
                }
            }
            call.byteCount = Limits.searchPageBytesMax - room
            if call.hits.count == request.limit || room < 0 {
                let isMore = end < heads.count || isIndexed
                return .reply(
                    SearchPage(
                        call.hits, next: isMore ? SearchCursor.heads(end).text : nil,
                        isComplete: core.queries.isSearchComplete))
            }
        }
        guard isIndexed, call.channels?.isEmpty != true else {
            return .reply(SearchPage(call.hits, next: nil, isComplete: true))
        }
        guard core.queries.search.calls.count < Limits.searchesWaitingMax else {
            throw NodeError(
                .busy, "too many searches are running", hint: "try again", reason: "search.busy")
        }
        core.queries.search.calls[scope.call] = call
        return try begin(scope.call)
    }

    private func begin(_ call: CallID) throws(NodeError) -> CommandOutcome {
        try stored { () throws(StorageError) in
            switch core.queries.search.standing {
            case .open: try core.queries.askFresh(call)
            case .broken: try core.queries.startSearch()
            case .opening, .off: break
            }
        }
        return .later
    }

    private func checked(_ text: String) throws(NodeError) -> SearchQuery {
        if let query = SearchQuery(text) { return query }
        throw NodeError(
            .badRequest,
            "there are no words to search for, or more than \(SearchQuery.phrasesMax)",
            hint: "give a few letters or digits", reason: "search.no_words",
            fields: [.init(name: "query", reason: "form")])
    }

    private func cursor(of request: SearchRequest) throws(NodeError) -> SearchCursor? {
        guard let text = request.cursor else { return nil }
        guard let cursor = SearchCursor(text) else { throw badCursor }
        return cursor
    }

    private var badCursor: NodeError {
        NodeError(
            .badRequest, "'cursor' did not come from this list", hint: "leave it out",
            reason: "bad_cursor", fields: [.init(name: "cursor", reason: "form")])
    }

    private func searchCall(
        _ request: SearchRequest, _ query: SearchQuery, _ kinds: Set<String>,
        in workspace: Workspace
    ) throws(NodeError) -> SearchCall {
        var tags: [[String]] = []
        var channels: Set<String>?
        if !request.channels.isEmpty {
            var found: [Workspace.Channel] = []
            for reference in request.channels {
                found.append(try core.queries.channel(reference, in: workspace, field: "channels"))
            }
            let numbers = Set(found.flatMap { [$0.number] + $0.others }).filter { $0 != 0 }
            tags.append(numbers.sorted().map(SearchRow.tag(document:)))
            // A conversation that nobody has opened has no messages.
            channels = numbers.isEmpty ? [] : Set(found.map(\.publicID))
        } else if workspaces.count > 1 {
            tags.append([SearchRow.tag(workspace: workspace.number)])
        }
        let author = try request.author.map { (reference) throws(NodeError) in
            try core.queries.person(
                reference, in: workspace, orRemoved: true, orFormerly: true, field: "from")
        }
        if let author {
            let grants = grantNumbers(of: author, in: workspace)
            if !grants.isEmpty, grants.count <= 128 {
                tags.append(grants.map(SearchRow.tag(grant:)))
            }
        }
        if request.has == "link" { tags.append([SearchRow.linkTag]) }
        if request.has == "file" { tags.append([SearchRow.fileTag]) }
        if !kinds.contains("message") { tags.append([SearchRow.noteTag]) }
        let after = min(max(request.after ?? 0, 0), SearchPosition.timeMax)
        let before = min(request.before ?? .max, SearchPosition.timeMax)
        if after > before { channels = [] }
        return SearchCall(
            query: query, workspace: workspace.number, channels: channels, author: author,
            wantsMessages: kinds.contains("message"), wantsNotes: kinds.contains("note"),
            times: after...max(after, before), hasLink: request.has == "link",
            hasFile: request.has == "file",
            limit: request.limit, expression: query.expression(tags: tags), hits: [],
            ranking: request.isRanked ? SearchRanking() : nil)
    }

    private func grantNumbers(of member: MemberID, in workspace: Workspace) -> [Int64] {
        workspace.authorityOrder.compactMap { id in
            workspace.judged.subject(ofGrant: id) == member
                ? store.operations.number(ofGrant: id) : nil
        }.sorted()
    }

    // MARK: Channels and members

    /// A channel or somebody, before it is known whether this page shows it: the objects of a
    /// thousand channels cost many thousand queries.
    private enum Head {
        case channel(Workspace.Channel, [SearchHit.Match])
        case member(MemberID, [SearchHit.Match])
    }

    private func heads(
        _ query: SearchQuery, _ kinds: Set<String>, _ request: SearchRequest,
        in workspace: Workspace
    ) -> [Head] {
        guard !request.isAboutMessages else { return [] }
        var heads: [Head] = []
        if kinds.contains("channel") { heads += channels(query, in: workspace) }
        if kinds.contains("member") {
            heads += found(query, request.query, in: workspace).map {
                Head.member($0.member, $0.matches)
            }
        }
        return heads
    }

    private func hit(
        _ head: Head, in workspace: Workspace
    ) throws(StorageError) -> [SearchHit] {
        switch head {
        case .channel(let channel, let matches):
            return [
                SearchHit(
                    .channel(try core.queries.object(of: channel, in: workspace)), matches: matches)
            ]
        case .member(let member, let matches):
            guard let object = core.queries.object(of: member, in: workspace) else { return [] }
            return [SearchHit(.member(object), matches: matches)]
        }
    }

    private func channels(_ query: SearchQuery, in workspace: Workspace) -> [Head] {
        let index = workspace.channelIndex
        return zip(index.all, index.names).compactMap { channel, name -> Head? in
            guard !channel.isDirect else { return nil }
            var matches: [SearchHit.Match] = []
            for (field, text) in [
                ("name", name), ("topic", channel.topic), ("description", channel.description),
            ] as [(String, String?)] {
                guard let text, let found = query.matches(in: SearchText(text)) else { continue }
                matches += found.map { SearchHit.Match(field, $0) }
            }
            return matches.isEmpty ? nil : .channel(channel, matches)
        }
    }

    /// Other people by words of their names, or by the beginning of an email address that they show.
    private func found(
        _ query: SearchQuery, _ text: String, in workspace: Workspace
    ) -> [(member: MemberID, matches: [SearchHit.Match])] {
        let address = text.lowercased()
        return workspace.members.map(\.member).compactMap { member in
            guard member != workspace.member else { return nil }
            let name = workspace.displayName(of: member)
            if let found = query.matches(in: SearchText(name)) {
                return (member, found.map { SearchHit.Match("name", $0) })
            }
            guard address.contains("@"), let email = workspace.shownFields(of: member)[.email],
                email.lowercased().hasPrefix(address)
            else { return nil }
            return (member, [SearchHit.Match("email", 0..<address.unicodeScalars.count)])
        }
    }

    func findMembers(
        _ text: String, _ request: PageRequest, _ scope: CallScope
    ) throws(NodeError) -> Page<MemberObject> {
        let workspace: Workspace = try core.queries.workspace(scope)
        let found = Set(found(try checked(text), text, in: workspace).map(\.member))
        let objects = workspace.visibleMembers.map(\.member).filter(found.contains)
            .compactMap { core.queries.object(of: $0, in: workspace) }
        let (items, next) = try core.queries.page(objects, request)
        return Page(Array(items), next: next)
    }
}
