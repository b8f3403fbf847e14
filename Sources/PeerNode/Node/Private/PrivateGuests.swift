import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// Adds the guests of a workspace to the private channels for which they were admitted.
final class PrivateGuests: CorePart {
    /// When this device adds the guests that were let in for a private channel, on the monotonic
    /// clock, by workspace and document.
    var guestsDue: [Int64: [DocumentID: UInt64]] = [:]
    /// The workspaces in which this turn has changed who may be missing in a private channel.
    var guestPlansDue: Set<Int64> = []

    // MARK: Letting them into their documents

    /// Guests who were admitted for a document and never added to it, where this device may add
    /// them and the author of the invite might have. Ascending by document, then by member.
    private func missingGuests(
        of workspace: Workspace
    ) -> [(document: PrivateDocument, members: [MemberID])] {
        // Finding out who leads each document looks at all of them, and most have no guests.
        let doors = workspace.invites.admissions.compactMap { id, admissions in
            guard !admissions.isEmpty, case .invite(let invite)? = workspace.authority[id]?.payload,
                invite.role == .guest
            else { return nil as (AuthorityPayload.Invite, OperationID, [OperationID])? }
            return (invite, id, admissions)
        }
        guard !doors.isEmpty else { return [] }
        let leaders = leaders(of: workspace)
        guard !leaders.isEmpty else { return [] }
        var missing: [DocumentID: Set<MemberID>] = [:]
        for (invite, id, admissions) in doors {
            guard let inviter = workspace.judged.author(of: id) else { continue }
            let admitted = admissions.compactMap { admission in
                workspace.authority[admission]?.payload.joiner.flatMap { joiner in
                    workspace.judged.isValid(admission) ? (joiner.member, admission) : nil
                }
            }
            // A hash for each document comes last: of most it is known that nobody is missing.
            for (document, leading) in leaders where leading.contains(inviter) {
                let absent = admitted.filter { member, admission in
                    workspace.role(of: member) != nil
                        && (!document.everIn.contains(member)
                            || hasLapsed(member, in: document, before: admission, of: workspace))
                }.map(\.0)
                guard !absent.isEmpty, workspace.names(document.id, in: invite) else { continue }
                missing[document.id, default: []].formUnion(absent)
            }
        }
        return leaders.compactMap { document, _ in
            missing[document.id].map { (document, $0.sorted()) }
        }
    }

    /// Whether a member's seat has lapsed with their membership, and an admission has made a new
    /// one. This does not include a member who was removed from the document itself.
    private func hasLapsed(
        _ member: MemberID, in document: PrivateDocument, before admission: OperationID,
        of workspace: Workspace
    ) -> Bool {
        guard let ends = workspace.memberEnds[member],
            !document.isIn(member),
            document.authority.ends(of: member).isEmpty
        else { return false }
        return ends.allSatisfy { workspace.judged.isAncestor($0, of: admission) }
    }

    /// The private channels in which this device's member is owner or admin, ascending, each with
    /// all who are.
    private func leaders(
        of workspace: Workspace
    ) -> [(document: PrivateDocument, people: Set<MemberID>)] {
        workspace.sealed.documents.values.sorted { $0.id < $1.id }.compactMap { document in
            guard document.root?.subtype == .channel, document.deletion == nil else { return nil }
            let people = Set(document.leaders)
            return people.contains(workspace.member) ? (document, people) : nil
        }
    }

    /// Plans once for all that a turn has changed.
    func planGuestsWhereDue() {
        for number in guestPlansDue.sorted() {
            if let workspace = core.workspaces[number] { planGuests(of: workspace) }
        }
        guestPlansDue = []
    }

    /// Sets the times at which this device adds guests: the admins of a document do it one after
    /// the other, and each only if it is still due.
    func planGuests(of workspace: Workspace) {
        turn.tally.noteGuestPlan()
        let before = guestsDue.removeValue(forKey: workspace.number) ?? [:]
        guard workspace.standing == .member, workspace.fields.deletion == nil, home != nil else {
            return
        }
        for (document, _) in missingGuests(of: workspace) {
            let admins = document.leaders
            let place = admins.firstIndex(of: workspace.member) ?? admins.count
            guestsDue[workspace.number, default: [:]][document.id] =
                before[document.id]
                ?? time.monotonic &+ 1_000 &+ 4_000 &* UInt64(min(place, 64))
        }
    }

    func addGuestsWhenDue() throws(StorageError) {
        guard mayWrite, !guestsDue.isEmpty else { return }
        for number in guestsDue.keys.sorted() {
            let due = (guestsDue[number] ?? [:]).filter { $0.value <= time.monotonic }
            guard !due.isEmpty, let workspace = core.workspaces[number] else { continue }
            for document in due.keys { guestsDue[number]?[document] = nil }
            if guestsDue[number]?.isEmpty == true { guestsDue[number] = nil }
            for (document, members) in missingGuests(of: workspace) where due[document.id] != nil {
                try add(members, to: document, in: workspace)
            }
        }
    }

    /// Adds one who was just let in, so that the first sync brings everything.
    func addGuests(only member: MemberID, in workspace: Workspace) throws(StorageError) {
        for (document, members) in missingGuests(of: workspace) where members.contains(member) {
            try add([member], to: document, in: workspace)
        }
    }

    private func add(
        _ members: [MemberID], to document: PrivateDocument, in workspace: Workspace
    ) throws(StorageError) {
        let plan = core.privates.authoring.addition(of: members, to: document, in: workspace)
        let made = try core.privates.authoring.author(
            .add(plan.payload), in: document, of: workspace, introducing: plan.fresh
        ) { trial in members.allSatisfy { trial.standing(of: $0) != nil } }
        if made != nil { try core.privates.authoring.mail(plan, of: document, in: workspace) }
    }
}
