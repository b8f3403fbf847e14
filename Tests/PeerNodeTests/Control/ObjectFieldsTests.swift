import Testing
import WorkspaceModel

@testable import PeerNode

/// Every object as scripts see it: all fields, in this order, absent ones as null. The texts are
/// copied from the description of the interface.
struct `An object of the interface` {
    private let mina = PersonObject(id: "u_mina00", name: "Mina")
    private let joon = PersonObject(id: "u_joon00", name: "Joon")

    @Test func `person`() {
        #expect(mina.json.text == #"{"id":"u_mina00","name":"Mina"}"#)
    }

    @Test func `workspace, bare and with everything`() {
        var object = WorkspaceObject(id: "w_1", name: "acme", createdAt: 5, digest: "9f0c")
        #expect(
            object.json.text == """
                {"id":"w_1","name":"acme","description":null,"image":null,"role":null,\
                "owner":null,"members":0,"channels":0,"messages":null,"selected":false,"created_at":5,\
                "digest":"9f0c","deleted":false,"state":"member","removed_at":null,\
                "removed_by":null,"removed_how":null,"note":null,"address":null,\
                "successor":null,"acknowledged":null}
                """)
        object.description = "d"
        object.image = "b_1"
        object.role = "owner"
        object.owner = mina
        object.members = 2
        object.channels = 3
        object.isSelected = true
        object.isDeleted = true
        object.removedAt = 9
        object.removedBy = joon
        object.removedHow = "removed"
        object.note = "out"
        object.state = "deleted"
        object.address = "wsx://join/b4qx"
        object.successor = joon
        object.acknowledged = [AcknowledgementObject(device: "d_1", member: joon)]
        #expect(
            object.json.text == """
                {"id":"w_1","name":"acme","description":"d","image":"b_1","role":"owner",\
                "owner":{"id":"u_mina00","name":"Mina"},"members":2,"channels":3,"messages":null,\
                "selected":true,"created_at":5,"digest":"9f0c","deleted":true,\
                "state":"deleted","removed_at":9,\
                "removed_by":{"id":"u_joon00","name":"Joon"},"removed_how":"removed",\
                "note":"out",\
                "address":"wsx://join/b4qx","successor":{"id":"u_joon00","name":"Joon"},\
                "acknowledged":[{"id":"d_1","device":"d_1",\
                "member":{"id":"u_joon00","name":"Joon"}}]}
                """)
    }

    @Test func `a new phrase`() {
        var object = NewPhraseObject()
        #expect(object.json.text == #"{"recovery":"unshown","done":[],"left":[]}"#)
        object.done = [(id: "w_1", name: "acme")]
        object.left = [(id: "w_2", name: "solo", message: "m")]
        #expect(
            object.json.text == """
                {"recovery":"unshown","done":[{"id":"w_1","name":"acme"}],\
                "left":[{"id":"w_2","name":"solo","message":"m"}]}
                """)
    }

    @Test func `policy, request and what was declined`() {
        let policy = PolicyObject(
            workspace: "w_1", mayInvite: "admins", mayAttest: "members", join: "open",
            address: "wsx://join/b4qx")
        #expect(
            policy.json.text == """
                {"id":"w_1","who_may_invite":"admins","who_may_attest":"members","join":"open",\
                "address":"wsx://join/b4qx","attachments":5}
                """)
        let request = RequestObject(
            id: "r_1", name: nil, member: "u_1", device: "d_1", invite: "i_1", at: 7,
            state: "pending")
        #expect(
            request.json.text == """
                {"id":"r_1","name":null,"member":"u_1","device":"d_1","invite":"i_1","at":7,\
                "state":"pending","note":null}
                """)
        #expect(
            DeclinedObject(workspace: "w_1", wasPending: true).json.text == """
                {"id":"w_1","declined":true,"was_pending":true}
                """)
    }

    @Test func `channel, bare`() {
        let object = ChannelObject(id: "c_1", workspace: "w_1", name: "general", createdAt: 5)
        #expect(
            object.json.text == """
                {"id":"c_1","workspace":"w_1","name":"general","kind":"channel",\
                "private":false,"default":false,"description":null,"topic":null,"owner":null,\
                "admins":[],"members":0,"people":null,"joined":false,"archived":false,"history":"all",\
                "unread":0,"mentions":0,"muted":false,"muted_until":null,"notify":"all",\
                "last":null,"created_at":5,"image":null,"copies":0}
                """)
    }

    @Test func `conversation, with people and the newest message`() {
        var object = ChannelObject(id: "c_1", workspace: "w_1", name: "Joon", createdAt: 5)
        object.kind = "dm"
        object.isPrivate = true
        object.isDefault = true
        object.settings.description = "d"
        object.settings.topic = "t"
        (object.settings.image, object.settings.copies) = ("preset:7", 3)
        object.settings.owner = mina
        object.members = 2
        object.people = [joon, mina]
        object.isJoined = true
        object.settings.isArchived = true
        object.settings.history = "from-join"
        object.reading.unread = 1
        object.reading.mentions = 4
        object.reading.isMuted = true
        object.reading.mutedUntil = 8
        object.reading.notify = "none"
        object.last = PreviewObject(id: "m_1", author: joon, at: 7, text: nil)
        #expect(
            object.json.text == """
                {"id":"c_1","workspace":"w_1","name":"Joon","kind":"dm","private":true,\
                "default":true,"description":"d","topic":"t",\
                "owner":{"id":"u_mina00","name":"Mina"},"admins":[],"members":2,\
                "people":[{"id":"u_joon00","name":"Joon"},{"id":"u_mina00","name":"Mina"}],\
                "joined":true,"archived":true,"history":"from-join","unread":1,"mentions":4,\
                "muted":true,"muted_until":8,"notify":"none",\
                "last":{"id":"m_1","author":{"id":"u_joon00","name":"Joon"},"at":7,\
                "text":null},"created_at":5,"image":"preset:7","copies":3}
                """)
    }

    @Test func `what was read, and a setting`() {
        var object = ReadingObject(id: "c_1", name: "general")
        object.unread = 2
        object.mentions = 1
        object.message = "m_1"
        object.last = PreviewObject(id: "m_2", author: joon, at: 7, text: "hi")
        #expect(
            object.json.text == """
                {"id":"c_1","name":"general","unread":2,"mentions":1,"message":"m_1",\
                "last":{"id":"m_2","author":{"id":"u_joon00","name":"Joon"},"at":7,"text":"hi"},\
                "first":null}
                """)
        #expect(
            PreferenceObject(name: "theme", value: nil).json.text == """
                {"id":"theme","setting":"theme","value":null}
                """)
    }

    @Test func `reminder, bare and of a message`() {
        var object = ReminderObject(
            id: "y_1", workspace: "w_1", channel: "c_1", at: 9, createdAt: 5)
        #expect(
            object.json.text == """
                {"id":"y_1","workspace":"w_1","channel":"c_1","channel_name":null,\
                "message":null,"preview":null,"text":null,"at":9,"state":"waiting","created_at":5}
                """)
        object.channelName = "general"
        object.message = "m_1"
        object.preview = PreviewObject(id: "m_1", author: joon, at: 7, text: "hi")
        object.text = "answer"
        object.state = .due
        #expect(
            object.json.text == """
                {"id":"y_1","workspace":"w_1","channel":"c_1","channel_name":"general",\
                "message":"m_1",\
                "preview":{"id":"m_1","author":{"id":"u_joon00","name":"Joon"},"at":7,\
                "text":"hi"},"text":"answer","at":9,"state":"due","created_at":5}
                """)
    }

    @Test func `message that is starred`() {
        var object = MessageObject(
            id: "m_1", workspace: "w_1", channel: "c_1", author: mina, at: 5, text: "hi")
        #expect(object.json["starred_at"] == nil)
        object.starredAt = 8
        #expect(object.json.text.hasSuffix(#""version":null,"starred_at":8}"#))
    }

    @Test func `message, deleted, with answers and reactions`() {
        var object = MessageObject(
            id: "m_1", workspace: "w_1", channel: "c_1", author: mina, at: 5, text: nil)
        object.format = "code"
        object.thread = "m_0"
        object.replies = 2
        object.editedAt = 6
        object.deleted = (at: 7, by: joon)
        object.reactions = [(emoji: "👍", count: 1, isSelf: false)]
        object.mentions = ["u_joon00"]
        object.location = MessageLocation(
            latitude: -5_000_000, longitude: 70_000_000, accuracy: 20)
        object.version = "o_1"
        object.isPinned = true
        object.isSelf = true
        object.isBot = true
        object.state = "held_by_others"
        object.holders = 3
        #expect(
            object.json.text == """
                {"id":"m_1","workspace":"w_1","channel":"c_1",\
                "author":{"id":"u_mina00","name":"Mina"},"at":5,"text":null,"format":"code",\
                "thread":"m_0","replies":2,"edited_at":6,\
                "deleted":{"at":7,"by":{"id":"u_joon00","name":"Joon"}},\
                "reactions":[{"emoji":"👍","count":1,"self":false}],"attachments":[],\
                "location":{"lat":-0.5,"lon":7,"accuracy":20,"label":null},\
                "mentions":["u_joon00"],"mentions_channel":false,"pinned":true,"self":true,\
                "bot":true,"state":"held_by_others","holders":3,"version":"o_1"}
                """)
    }

    @Test func `member`() {
        var object = MemberObject(id: "u_1", name: "Joon", role: "guest", joinedAt: 5)
        object.isSelf = true
        object.devices = 4
        object.isRemoved = true
        object.removedAt = 9
        object.kept = 3
        object.endedInvites = ["i_1"]
        object.keptInvites = []
        object.profile = [.description: "Paints", .phone: "01012345678"]
        object.presence = .init(state: "busy", text: "in a meeting", emoji: "🎧", until: 8)
        #expect(
            object.json.text == """
                {"id":"u_1","name":"Joon","role":"guest","self":true,"devices":4,"joined_at":5,\
                "removed":true,"removed_at":9,"kept":3,"ended_invites":["i_1"],\
                "open_invites":null,"kept_invites":[],\
                "presence":{"state":"busy","text":"in a meeting","emoji":"🎧","until":8},\
                "description":"Paints","country":null,"phone":"01012345678","email":null,\
                "image":null}
                """)
    }

    @Test func `profile`() {
        var object = ProfileObject(id: "u_1", workspace: "w_1", name: "Joon")
        object.values = [.email: "joon@example.org"]
        #expect(
            object.json.text == """
                {"id":"u_1","workspace":"w_1","name":"Joon","self":false,"description":null,\
                "country":null,"phone":null,"email":"joon@example.org","image":null,\
                "visible":null,"presence":null,"email_verified":null}
                """)
        object.isSelf = true
        object.visible = [.email: "workspace", .phone: "nobody"]
        object.presence = .init(state: "online")
        object.verified = VerifiedMark(by: PersonObject(id: "u_2", name: "Mina"), at: 7)
        #expect(
            object.json.text == """
                {"id":"u_1","workspace":"w_1","name":"Joon","self":true,"description":null,\
                "country":null,"phone":null,"email":"joon@example.org","image":null,\
                "visible":{"phone":"nobody","email":"workspace"},\
                "presence":{"state":"online","text":null,"emoji":null,"until":null},\
                "email_verified":{"by":{"id":"u_2","name":"Mina"},"at":7}}
                """)
        object.verified = nil
        object.unverified = UnverifiedMark(
            "verifier_gone", by: PersonObject(id: "u_2", name: "Mina"), at: 7)
        #expect(
            object.json.text.hasSuffix(
                #""email_verified":null,"email_unverified":"#
                    + #"{"state":"verifier_gone","by":{"id":"u_2","name":"Mina"},"at":7}}"#))
    }

    @Test func `proofs of addresses`() {
        var check = EmailCheckObject(email: "m@example.org", state: "taken_here")
        check.member = PersonObject(id: "u_1", name: "Joon")
        let note = "only addresses that members of this workspace show are known here"
        #expect(
            check.json.text == """
                {"id":"m@example.org","email":"m@example.org","state":"taken_here",\
                "member":{"id":"u_1","name":"Joon"},"note":"\(note)","seed":"E12"}
                """)
        #expect(
            EmailClaimObject(email: "m@example.org", state: "pending").json.text == """
                {"id":"m@example.org","email":"m@example.org","state":"pending","verifier":null,\
                "expires_at":null}
                """)
        let person = PersonObject(id: "u_1", name: "Joon")
        #expect(
            AttestationObject(
                id: "o_1", member: person, kind: "email", by: person, at: 7, state: "withdrawn"
            ).json.text == """
                {"id":"o_1","member":{"id":"u_1","name":"Joon"},"kind":"email","provider":null,\
                "value":null,"by":{"id":"u_1","name":"Joon"},"at":7,"until":null,\
                "state":"withdrawn"}
                """)
        #expect(MailCommandObject(command: "x").json.text == #"{"id":"mail","command":"x"}"#)
    }

    @Test func `presence`() {
        let object = PresenceObject(id: "u_1", name: "Joon", isSelf: true)
        #expect(
            object.json.text == """
                {"id":"u_1","name":"Joon","self":true,"state":"offline","text":null,\
                "emoji":null,"until":null}
                """)
    }

    @Test func `invite, without its secret and used up`() {
        var object = InviteObject(
            id: "i_1", link: nil, role: "guest", uses: 5, expiresAt: 9, createdBy: mina)
        object.used = 5
        object.channels = ["c_1", "c_2"]
        object.needsApproval = true
        object.state = "used"
        #expect(
            object.json.text == """
                {"id":"i_1","link":null,"code":null,"qr_text":null,"role":"guest","uses":5,\
                "used":5,"expires_at":9,"channels":["c_1","c_2"],"approve":true,\
                "state":"used","created_by":{"id":"u_mina00","name":"Mina"}}
                """)
    }

    @Test func `identity`() {
        var object = IdentityObject(id: "d_1", name: "Mina", createdAt: 5)
        #expect(
            object.json.text == """
                {"id":"d_1","name":"Mina","created_at":5,"passphrase":false,"locked":false,\
                "recovery":"none","members":[]}
                """)
        object.hasPassphrase = true
        object.isLocked = true
        object.members = [
            (workspace: "w_1", member: "u_1", name: "acme"),
            (workspace: "w_2", member: "u_2", name: "duo"),
        ]
        #expect(
            object.json.text == """
                {"id":"d_1","name":"Mina","created_at":5,"passphrase":true,"locked":true,\
                "recovery":"none","members":[{"workspace":"w_1","member":"u_1",\
                "name":"acme"},{"workspace":"w_2","member":"u_2","name":"duo"}]}
                """)
    }

    @Test func `peer, unknown and known`() {
        var object = PeerObject(state: "heard")
        #expect(
            object.json.text == """
                {"id":null,"member":null,"name":null,"address":null,"state":"heard",\
                "behind":null,"ahead":null,"last_seen":null,"last_error":null,\
                "last_tried":null}
                """)
        object.id = "d_1"
        object.member = mina
        object.name = "amber"
        object.address = "[::1]:7"
        object.behind = 1
        object.ahead = 2
        object.lastSeen = 5
        object.lastError = "refused"
        object.lastTried = 6
        #expect(
            object.json.text == """
                {"id":"d_1","member":{"id":"u_mina00","name":"Mina"},"name":"amber",\
                "address":"[::1]:7","state":"heard","behind":1,"ahead":2,"last_seen":5,\
                "last_error":"refused","last_tried":6}
                """)
    }

    @Test func `sync`() {
        var object = SyncObject(peer: "d_1", workspace: "w_1")
        #expect(
            object.json.text == """
                {"peer":"d_1","workspace":"w_1","state":"comparing","behind":null,"ahead":null,\
                "rate":null,"eta_ms":null}
                """)
        (object.behind, object.ahead) = (0, 0)
        #expect(object.state == "in_sync")
        object.behind = 10
        object.ahead = 3
        object.rate = 5
        object.remainingMilliseconds = 2_000
        #expect(
            object.json.text == """
                {"peer":"d_1","workspace":"w_1","state":"apart","behind":10,"ahead":3,"rate":5,\
                "eta_ms":2000}
                """)
    }

    @Test func `network and its counts`() {
        var object = NetworkObject()
        object.isSuspended = true
        object.listen = ["0.0.0.0:1"]
        object.announces = true
        object.peers.connected = 1
        object.peers.dialing = 2
        object.peers.waiting = 3
        object.peers.blocked = 4
        #expect(
            object.json.text == """
                {"suspended":true,"failure":null,"listen":["0.0.0.0:1"],"announce":true,\
                "peers":{"connected":1,"dialing":2,"waiting":3,"blocked":4}}
                """)
    }

    @Test func `status, of an empty home`() {
        let object = StatusObject(home: "/h", socket: "/h/control.sock")
        #expect(
            object.json.text == """
                {"version":"\(Release.version)","api":{"major":1,"minor":0},"identity":null,\
                "device":null,"home":"/h","socket":"/h/control.sock","listen":[],\
                "uptime_ms":0,"locked":false,\
                "peers":{"connected":0,"dialing":0,"waiting":0,"blocked":0},"workspaces":[],\
                "store":{"operations":0,"bytes":0,"blob_bytes":0,"free_bytes":0},\
                "warnings":[]}
                """)
    }

    @Test func `status, with everything`() {
        var object = StatusObject(home: "/h", socket: "/s")
        object.identity = IdentityObject(id: "d_1", name: "Mina", createdAt: 5)
        object.listen = ["a", "b"]
        object.uptimeMilliseconds = 4_200
        object.isLocked = true
        object.workspaces = [
            .init(id: "w_1", name: "acme", digest: "9f", operations: 214, behind: 1)
        ]
        object.store.operations = 1
        object.store.bytes = 2
        object.store.blobBytes = 3
        object.store.freeBytes = 4
        object.warnings = [.init(kind: .diskLow, message: "nearly full", hint: nil)]
        let json = object.json
        #expect(json["device"] == "d_1")
        #expect(json["identity"]?["name"] == "Mina")
        #expect(json["listen"] == ["a", "b"])
        #expect(json["uptime_ms"] == 4_200)
        #expect(json["locked"] == true)
        #expect(
            json["workspaces"]?.text
                == #"[{"id":"w_1","name":"acme","digest":"9f","operations":214,"behind":1,"#
                + #""state":"member"}]"#)
        #expect(
            json["store"]?.text == #"{"operations":1,"bytes":2,"blob_bytes":3,"free_bytes":4}"#)
        #expect(
            json["warnings"]?.text
                == #"[{"kind":"disk.low","message":"nearly full","hint":null}]"#)
    }

    @Test func `finding, reader, subscription, version`() {
        let finding = FindingObject(id: "network.listener", state: "fail", message: "m", hint: "h")
        #expect(
            finding.json.text
                == #"{"id":"network.listener","state":"fail","message":"m","hint":"h"}"#)
        #expect(
            ReaderObject(name: "bot", cursor: "e1.4", at: 5).json.text
                == #"{"id":"bot","name":"bot","cursor":"e1.4","at":5}"#)
        #expect(
            SubscriptionObject(id: 3, cursor: "e1.4").json.text
                == #"{"subscription":3,"cursor":"e1.4"}"#)
        #expect(
            Release.json.text
                == #"{"version":"\#(Release.version)","api":{"major":1,"minor":0}}"#)
    }

    @Test func `event, of a workspace and as part of a first sync`() {
        var object = EventObject(
            sequence: 1, cursor: "e1.1", at: 5, type: "message.created", data: ["id": "m_1"])
        object.workspace = "w_1"
        object.isBackfill = true
        #expect(
            object.json.text == """
                {"seq":1,"cursor":"e1.1","at":5,"type":"message.created","workspace":"w_1",\
                "backfill":true,"data":{"id":"m_1"}}
                """)
    }

    @Test func `list, at its end and before it`() {
        #expect(
            Page([mina, joon], next: "p_2").json.text == """
                {"items":[{"id":"u_mina00","name":"Mina"},{"id":"u_joon00","name":"Joon"}],\
                "next":"p_2"}
                """)
        #expect(Page<PersonObject>([]).json.text == #"{"items":[],"next":null}"#)
    }

    @Test func `past of a channel`() {
        #expect(
            HistoryPage([], next: "n", older: "o", newer: nil).json.text
                == #"{"items":[],"next":"n","older":"o","newer":null}"#)
    }

    @Test func `made thing, the first time and again`() {
        #expect(Made(mina).json == mina.json)
        #expect(
            Made(mina, isReplayed: true).json.text
                == #"{"id":"u_mina00","name":"Mina","replayed":true}"#)
    }
}
