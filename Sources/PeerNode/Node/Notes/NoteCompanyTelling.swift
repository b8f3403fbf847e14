import CRDTStore
import NoteText
import SyncProtocol
import WorkspaceModel

/// Something that passes about who is in a note, for those who watch it.
struct NoteCompanyNews {
    let place: ViewStore.NotePlace
    /// The type of the event.
    let type: String
    let data: JSONValue
}

/// What is told here of who else is in a note, and of whom others are to wait for.
extension Notes {
    /// Where somebody here is in a note.
    ///
    /// - Parameter selection: in scalars of the text as it is.
    func select(_ selection: (at: Int, length: Int), in place: ViewStore.NotePlace) {
        guard watched.contains(place) else { return }
        company.own[place, default: .init()].selection = selection
        noteWord(in: place)
    }

    /// Somebody here did something in a note: those who wait for them wait longer, and others are told.
    func noteWord(in place: ViewStore.NotePlace) {
        if company.own[place]?.claim != nil {
            company.own[place]?.claim?.until = time.monotonic &+ Limits.noteLockMilliseconds
        }
        owe(place)
    }

    /// Takes a change of a text along to where people are in it.
    func moveCompany(in place: ViewStore.NotePlace, past patches: [NotePatch]) {
        company.moved(place)
        guard let (at, length) = company.own[place]?.selection else { return }
        let start = patches.reduce(at) { $1.moved($0, keeping: .behind) }
        let end = patches.reduce(at + length) { $1.moved($0, keeping: .behind) }
        company.own[place]?.selection = (start, max(0, end - start))
    }

    // MARK: Waiting for each other

    /// Asks others not to write in a note for a while, or to go on waiting.
    func claim(_ place: ViewStore.NotePlace) {
        let until = time.monotonic &+ Limits.noteLockMilliseconds
        let since = company.own[place]?.claim?.at ?? time.wall
        company.own[place, default: .init()].claim = (since, until)
        owe(place)
    }

    /// Lets others write.
    func release(_ place: ViewStore.NotePlace) {
        guard company.own[place]?.claim != nil else { return }
        company.own[place]?.claim = nil
        owe(place)
    }

    /// For whom the others are to wait: of several, who asked first.
    func claimant(
        of place: ViewStore.NotePlace
    ) -> (member: MemberID?, device: DeviceID, at: UInt64)? {
        var found = (company.claims[place] ?? [:]).values.filter { $0.until > time.monotonic }
            .map { (member: MemberID?.some($0.member), device: $0.device, at: $0.at) }
        if let claim = company.own[place]?.claim, claim.until > time.monotonic, let home {
            found.append((nil, home.device, claim.at))
        }
        return found.min { ($0.at, $0.device) < ($1.at, $1.device) }
    }

    /// `{by, device, at}`; `null` where nobody asks others to wait.
    func lockObject(of place: ViewStore.NotePlace, in workspace: Workspace) -> JSONValue {
        guard let claimant = claimant(of: place) else { return .null }
        let member = claimant.member ?? workspace.member
        return [
            "by": core.membership.person(member, in: workspace).json,
            "device": .string(PublicID.device(claimant.device)),
            // Of whose clock is ahead, or who says anything, no more is shown than can be.
            "at": .integer(Int64(clamping: min(claimant.at, time.wall))),
        ]
    }

    // MARK: Telling

    /// The others who have a note open, with where they are.
    func participants(of place: ViewStore.NotePlace, in workspace: Workspace) -> JSONValue {
        .array(company.present(in: place).map { data(of: $0, at: place, in: workspace) })
    }

    /// What is to be told of who is in notes, once.
    func takeCompanyNews() -> [NoteCompanyNews] {
        var news: [NoteCompanyNews] = []
        func add(_ type: String, _ data: JSONValue, of place: ViewStore.NotePlace) {
            guard watched.contains(place) else { return }
            news.append(NoteCompanyNews(place: place, type: type, data: data))
        }
        for (place, guest) in company.left {
            guard let workspace = workspace(of: place) else { continue }
            var gone = guest
            (gone.word.selection, gone.draft, gone.word.isThere) = (nil, nil, false)
            add("note.cursor", data(of: gone, at: place, in: workspace), of: place)
        }
        for (place, links) in company.changed.sorted(by: { $0.key < $1.key }) {
            guard let workspace = workspace(of: place) else { continue }
            let devices = Set(links.compactMap { company.guests[place]?[$0]?.device })
            for guest in company.present(in: place) where devices.contains(guest.device) {
                add("note.cursor", data(of: guest, at: place, in: workspace), of: place)
            }
        }
        (company.left, company.changed) = ([], [:])
        for place in watched.sorted() {
            let now = claimant(of: place)?.device
            guard now != company.toldClaims[place], let workspace = workspace(of: place) else {
                continue
            }
            company.toldClaims[place] = now
            let lock = lockObject(of: place, in: workspace)
            add(
                "note.lock",
                [
                    "id": .string(PublicID.note(place.key)), "lock": lock,
                    "self": .bool(now != nil && now == home?.device),
                ], of: place)
        }
        return news
    }

    private func workspace(of place: ViewStore.NotePlace) -> Workspace? {
        store.operations.document(numbered: place.document)
            .flatMap { core.workspaces[$0.workspace] }
    }

    /// `{id, by, device, self, there, version, at, length, patch}`: where somebody is, in the text of
    /// `version` after `patch`, which is what they have not published.
    private func data(
        of guest: NoteCompany.Guest, at place: ViewStore.NotePlace, in workspace: Workspace
    ) -> JSONValue {
        var data: JSONObject = [
            "id": .string(PublicID.note(place.key)),
            "by": core.membership.person(guest.member, in: workspace).json,
            "device": .string(PublicID.device(guest.device)),
            "self": .bool(guest.member == workspace.member), "there": .bool(guest.word.isThere),
            "version": .null, "at": .null, "length": .null, "patch": [],
        ]
        guard guest.word.isThere, let note = open[place] else { return .object(data) }
        data["version"] = .string(note.version.text)
        let overlay = guest.draft.flatMap { note.note.overlay(of: $0) }
        data["patch"] = NotePatch.json(overlay?.patches ?? [])
        // What is behind something that is not shown is nowhere.
        guard let selection = guest.word.selection,
            let one = note.note.position(of: selection.start.anchor, in: overlay ?? .init()),
            let other = note.note.position(of: selection.end.anchor, in: overlay ?? .init())
        else { return .object(data) }
        data["at"] = .integer(Int64(min(one, other)))
        data["length"] = .integer(Int64(abs(one - other)))
        return .object(data)
    }
}

extension NotePatch {
    /// `[[at, deleted, inserted]…]`.
    static func json(_ patches: [NotePatch]) -> JSONValue {
        .array(
            patches.map {
                [.integer(Int64($0.at)), .integer(Int64($0.deleted)), .string($0.inserted)]
            })
    }
}
