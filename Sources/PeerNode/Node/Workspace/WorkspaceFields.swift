import CRDTStore
import WorkspaceModel

/// How people can join who hold only the workspace's address.
///
/// - Wire form: uint, 0 closed, 1 request, 2 open.
enum JoinRule: UInt64, CaseIterable {
    /// They do not.
    case closed = 0
    /// They ask, and an admin decides.
    case request = 1
    /// They are let in.
    case open = 2

    /// The word people and scripts see.
    var word: String {
        switch self {
        case .closed: "closed"
        case .request: "request"
        case .open: "open"
        }
    }

    init?(word: String) {
        guard let rule = JoinRule.allCases.first(where: { $0.word == word }) else { return nil }
        self = rule
    }
}

extension InviteRight {
    /// The weakest role that has it.
    var leastRole: Role {
        switch self {
        case .owner: .owner
        case .admins: .admin
        case .members: .member
        }
    }

    /// The word people and scripts see.
    var word: String {
        switch self {
        case .owner: "owner"
        case .admins: "admins"
        case .members: "members"
        }
    }

    init?(word: String) {
        guard let right = InviteRight.allCases.first(where: { $0.word == word }) else { return nil }
        self = right
    }
}

/// The settings of a workspace: for each field, the valid operation with the largest (lam, rank,
/// id) wins. A pure fold, equal on every node that holds the keys.
struct WorkspaceFields: Equatable {
    private(set) var name: String?
    private(set) var description: String?
    /// A blob, `b_…`.
    private(set) var image: String?
    private(set) var mayInvite = InviteRight.admins
    /// The operation that says so, `nil` while nobody has said anything.
    private(set) var invitePolicy: OperationID?
    private(set) var join = JoinRule.closed
    /// Files that one message may have.
    private(set) var attachments = Limits.filesPerMessageUsual
    /// Who may say what others have proved.
    private(set) var mayAttest = InviteRight.admins
    /// To whom an owner who leaves hands the workspace. Only an owner's word counts.
    private(set) var successor: MemberID?
    /// The strongest operation that ends the workspace.
    private(set) var deletion: OperationID?

    /// The order of settings.
    private struct Claim: Comparable {
        let lamport: UInt64
        let rank: GrantRank
        let id: OperationID

        static func < (left: Self, right: Self) -> Bool {
            (left.lamport, left.rank, left.id) < (right.lamport, right.rank, right.id)
        }
    }

    init(of workspace: Workspace) {
        var claims: [(claim: Claim, settings: AuthorityPayload.WorkspaceSettings)] = []
        for id in workspace.authority.settings where workspace.judged.evaluator.isValid(id) {
            guard let record = workspace.authority[id] else { continue }
            switch record.payload {
            case .create(let create):
                name = workspace.name(create.name, key: 6, of: id)
            case .setWorkspace(let settings):
                guard let lamport = workspace.judged.evaluator.lamport(of: id),
                    let rank = workspace.judged.evaluator.authorRank(of: id)
                else { continue }
                claims.append((Claim(lamport: lamport, rank: rank, id: id), settings))
            case .deleteWorkspace:
                deletion = min(deletion ?? id, id)
            default: continue
            }
        }
        for (claim, settings) in claims.sorted(by: { $0.claim < $1.claim }) {
            apply(settings, claim.id, in: workspace)
        }
    }

    private mutating func apply(
        _ settings: AuthorityPayload.WorkspaceSettings, _ id: OperationID, in workspace: Workspace
    ) {
        if let text = workspace.name(settings.name, key: 1, of: id) { name = text }
        if let text = workspace.name(settings.description, key: 2, of: id) {
            description = text.isEmpty ? nil : text
        }
        if let text = workspace.name(settings.image, key: 3, of: id) {
            image = text.isEmpty ? nil : text
        }
        if let right = settings.whoMayInvite.flatMap(InviteRight.init(rawValue:)) {
            mayInvite = right
            invitePolicy = id
        }
        if let rule = settings.join.flatMap(JoinRule.init(rawValue:)) { join = rule }
        if let count = settings.attachments { attachments = Int(clamping: count) }
        if let right = settings.whoMayAttest.flatMap(InviteRight.init(rawValue:)) {
            mayAttest = right
        }
        let isOwners =
            workspace.judged.evaluator.actingRole(of: id) == .owner
        if let bytes = settings.successor, isOwners { successor = MemberID(untrusted: bytes) }
    }
}
