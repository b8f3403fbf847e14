import WorkspaceModel

@testable import PeerNode

/// Messages, events and the network of a node that only records its calls.
extension TableNode {
    func send(_ draft: MessageDraft, _ scope: CallScope) throws(NodeError) -> Made<MessageObject> {
        try note("send \(draft.channel) \(draft.text) \(draft.format)", scope)
        sentByBot.append(draft.isBot)
        var sent = message
        if numbersMessages { (sent.id, sent.text) = ("m_sent\(sentByBot.count)", draft.text) }
        return Made(sent)
    }
    func edit(_ id: String, to text: String, base: String?, _ scope: CallScope)
        throws(NodeError) -> MessageObject
    {
        try note("edit \(id) \(text)", scope)
        return message
    }
    func react(_ id: String, with emoji: String, isOn: Bool, _ scope: CallScope)
        throws(NodeError) -> MessageObject
    {
        try note("react \(id) \(emoji) \(isOn)", scope)
        return message
    }
    func pin(_ id: String, isOn: Bool, _ scope: CallScope) throws(NodeError) -> MessageObject {
        try note("pin \(id) \(isOn)", scope)
        return message
    }
    func holders(_ id: String, _ scope: CallScope) throws(NodeError) -> Page<HolderObject> {
        try note("holders \(id)", scope)
        return Page(holderRows)
    }
    func removalHolders(_ member: MemberReference, _ scope: CallScope) throws(NodeError)
        -> Page<HolderObject>
    {
        try note("removalHolders \(member)", scope)
        return Page([
            HolderObject(
                device: "d_1", member: PersonObject(id: "u_mina0000", name: "Mina"), have: 1,
                isComplete: true, at: 1_795_200_000_000)
        ])
    }
    func history(_ request: HistoryRequest, _ scope: CallScope) throws(NodeError) -> HistoryPage {
        try note("history \(request.position) \(request.limit)", scope)
        return HistoryPage(
            [message], next: nil, older: pageEnds?.older, newer: pageEnds?.newer)
    }
    func deleteMessage(_ id: String, undo: Bool, _ scope: CallScope) throws(NodeError)
        -> MessageObject
    {
        try note("deleteMessage \(id) \(undo)", scope)
        return message
    }
    func messages(_ ids: [String], _ page: PageRequest, _ scope: CallScope) throws(NodeError)
        -> Page<MessageObject>
    {
        try note("messages \(ids)", scope)
        return Page([message])
    }
    func subscribe(_ request: SubscriptionRequest, _ scope: CallScope) throws(NodeError)
        -> SubscriptionObject
    {
        try note("subscribe \(request.types)", scope)
        return SubscriptionObject(id: 1, cursor: "e1.0")
    }
    func unsubscribe(_ subscription: Int64, _ scope: CallScope) throws(NodeError) {
        try note("unsubscribe \(subscription)", scope)
    }
    func waitForEvents(_ request: EventsRequest, _ scope: CallScope) throws(NodeError)
        -> CommandOutcome
    {
        try note("wait \(request.limit)", scope)
        promised.append(scope.call)
        return .later
    }
    func acknowledge(
        name: String, cursor: String, warning: String?, _ scope: CallScope
    ) throws(NodeError) -> ReaderObject {
        try note("ack \(name) \(cursor)" + (warning.map { " \($0)" } ?? ""), scope)
        return reader
    }
    func readers(_ page: PageRequest, _ scope: CallScope) throws(NodeError) -> Page<ReaderObject> {
        try note("readers", scope)
        return Page([reader])
    }
    func syncStatus(_ request: SyncStatusRequest, _ scope: CallScope) throws(NodeError)
        -> Page<SyncObject>
    {
        try note("sync", scope)
        return Page([SyncObject(peer: "d_other000", workspace: "w_acme0000")])
    }
    func peers(_ page: PageRequest, _ scope: CallScope) throws(NodeError) -> Page<PeerObject> {
        try note("peers", scope)
        return Page(linked)
    }
    func addPeer(address: String, _ scope: CallScope) throws(NodeError) -> PeerObject {
        try note("addPeer \(address)", scope)
        return PeerObject(state: "dialing")
    }
    func removePeer(_ peer: String, _ scope: CallScope) throws(NodeError) -> PeerObject {
        try note("removePeer \(peer)", scope)
        return PeerObject(state: "waiting")
    }
    func network(_ scope: CallScope) throws(NodeError) -> NetworkObject {
        try note("network", scope)
        return NetworkObject()
    }
    func suspendNetwork(_ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try note("suspend", scope)
        return .reply(NetworkObject().json)
    }
    func resumeNetwork(_ scope: CallScope) throws(NodeError) -> CommandOutcome {
        try note("resume", scope)
        return .reply(NetworkObject().json)
    }
}
