import WorkspaceModel

extension Command {
    /// The own profile, those of others, and who is there.
    static let personCommands = [
        profileGet, profileOf, profileSet, profileImageSet, profileImageClear, presenceSet,
        presenceClear, presenceList, typingSend,
    ]

    private static let refusals: [NodeError.Kind] = [.badRequest, .forbidden]

    private static let profileGet = {
        let member = Parameter.member("member", "Whose profile, instead of yours.").optional()
        return Command(
            "profile.get",
            line: CommandLineForm(
                "profile show", ["member"], examples: ["profile show", "profile show @Joon"]),
            "Show a profile.", parameters: [member], result: "profile", shape: .profile,
            effect: .reads, scope: .workspace, failures: [.notFound, .ambiguous],
            run: .answer { (call) throws(NodeError) in
                try call.node.profiles.profile(of: call[member], call.scope)
            })
    }()

    private static let profileOf = {
        let member = Parameter.member("member", "Who: '@Mina', or an id.")
        return Command(
            "profile.of", "Return the profile of a member, or of someone who was removed.",
            parameters: [member], result: "profile", shape: .profile, effect: .reads,
            scope: .workspace, failures: [.notFound, .ambiguous], example: ["member": "@Joon"],
            run: .answer { (call) throws(NodeError) in
                try call.node.profiles.profile(of: call[member], call.scope)
            })
    }()

    /// Longer than what is taken, so that the check of the fields names all that fail at once.
    private static func field(_ name: String, _ summary: String) -> Parameter<String?> {
        Parameter.text(name, summary, bytes: 0...Limits.messageTextBytesMax).optional()
    }

    private static let profileSet = {
        let name = field("name", "Your name in this workspace from now on.")
        let nickname = field("nickname", "The same as name.")
        let description = field("description", "What you do or like; empty removes it.")
        let phone = field(
            "phone", "A Korean mobile number, or one that begins with '+'; empty removes it.")
        let country = field("country", "Where you are; empty removes it.")
        let email = field("email", "An email address; empty removes it.")
        let words = ProfileChange.Field.allCases.map(\.word)
        let show = Parameter<[String]>.list(
            of: Parameter.choice("show", "A field to show to everybody here.", words),
            count: 0...words.count
        ).defaulting(to: [])
        let hide = Parameter<[String]>.list(
            of: Parameter.choice(
                "hide", "A field to hide from everybody; a phone is hidden unless shown.", words),
            count: 0...words.count
        ).defaulting(to: [])
        return Command(
            "profile.set",
            line: CommandLineForm(
                "profile set",
                examples: [
                    "profile set --name Mina --description 'Paints at night'",
                    "profile set --phone 010-1234-5678 --show phone", "profile set --hide email",
                ]),
            "Change your profile in a workspace. What is hidden stays on your own devices.",
            parameters: [name, nickname, description, phone, country, email, show, hide],
            result: "profile", shape: .profile, effect: .signs, scope: .workspace,
            failures: refusals, example: ["description": "Paints at night"],
            run: .outcome { (call) throws(NodeError) in
                var values: [ProfileChange.Field: String] = [:]
                values[.description] = call[description]
                values[.phone] = call[phone]
                values[.country] = call[country]
                values[.email] = call[email]
                let draft = ProfileEditDraft(
                    name: call[name], nickname: call[nickname], values: values,
                    shown: call[show].compactMap(ProfileChange.Field.init(word:)),
                    hidden: call[hide].compactMap(ProfileChange.Field.init(word:)))
                return .reply(try call.node.profiles.editProfile(draft, call.scope))
            })
    }()

    private static let profileImageSet = {
        let preset = Parameter.integer(
            "preset", "The number of a built-in picture.", ProfileText.presets
        ).optional()
        let blob = Parameter.identifier(
            "blob", "A picture: an id from 'blob.add' with 'picture'.", prefix: "b_"
        ).optional()
        let file = Parameter.text(
            "path", "A PNG, JPEG, GIF or WebP file of at most 1 MiB.", bytes: 1...4_096
        ).called("picture").optional().local().picture(for: "blob")
        return Command(
            "profile.image.set",
            line: CommandLineForm(
                "profile picture set", ["path"],
                examples: ["profile picture set me.png", "profile picture set --preset 7"]),
            "Choose a picture for your profile.",
            parameters: [file, preset, blob], result: "profile", shape: .profile, effect: .signs,
            scope: .workspace, failures: refusals + [.badRequest, .notFound, .tooLarge],
            example: ["preset": 7],
            run: .outcome { (call) throws(NodeError) in
                guard (call[preset] == nil) != (call[blob] == nil) else {
                    throw NodeError(
                        .badRequest, "which picture? give a file or a preset, not both",
                        hint: "wsx-node profile picture set me.png", reason: "missing_parameter",
                        fields: [.init(name: "preset", reason: "missing")])
                }
                let image = call[blob] ?? call[preset].map { "preset:\($0)" } ?? ""
                return .reply(
                    try call.node.profiles.setProfileImage(image, call.scope))
            })
    }()

    private static let profileImageClear = Command(
        "profile.image.clear",
        line: CommandLineForm("profile picture clear", examples: ["profile picture clear"]),
        "Remove your picture.", result: "profile", shape: .profile, effect: .signs,
        scope: .workspace, failures: refusals,
        run: .answer { (call) throws(NodeError) in
            try call.node.profiles.setProfileImage("", call.scope)
        })

    private static let presenceSet = {
        let state = Parameter.choice(
            "state", "How reachable you are; 'offline' hides that you are online.",
            ["online", "absent", "busy", "offline"]
        ).called("status")
        let text = Parameter.text(
            "text", "A few words about it.", bytes: 1...Limits.presenceTextBytesMax
        ).optional()
        let emoji = Parameter.text(
            "emoji", "A picture for it: an emoji or one other character.",
            bytes: 1...Limits.emojiBytesMax
        ).optional()
        let until = Parameter.time("until", "Until when. Without it, until you change it.")
            .ahead().optional()
        return Command(
            "presence.set",
            line: CommandLineForm(
                "presence set", ["state"],
                examples: [
                    "presence set busy --text 'in a meeting' --until 2h", "presence set offline",
                ]),
            "Set your status in a workspace, on all your devices.",
            parameters: [state, text, emoji, until], result: "presence", shape: .presence,
            effect: .signs, scope: .workspace, failures: refusals,
            example: ["state": "busy", "text": "in a meeting"],
            run: .answer { (call) throws(NodeError) in
                try call.node.profiles.setPresence(
                    PresenceDraft(
                        state: call[state], text: call[text], emoji: call[emoji], until: call[until]
                    ), call.scope)
            })
    }()

    private static let presenceClear = Command(
        "presence.clear", line: CommandLineForm("presence clear", examples: ["presence clear"]),
        "Clear your status, and be online again.", result: "presence", shape: .presence,
        effect: .signs, scope: .workspace, failures: refusals,
        run: .answer { (call) throws(NodeError) in
            try call.node.profiles.clearPresence(call.scope)
        })

    private static let presenceList = Command(
        "presence.list", line: CommandLineForm("presence list", examples: ["presence list"]),
        "List who is online. 'unknown' is someone who may be: this node has no link to them. "
            + "Anyone not listed is offline, except guests: they are never listed, and see nobody.",
        parameters: [limit, cursor], result: "list of presence", shape: .presences,
        emptiness: "nobody is online", effect: .reads, scope: .workspace,
        run: .answer { (call) throws(NodeError) in
            try call.node.profiles.presences(call.page, call.scope)
        })

    private static let typingSend = Command(
        "typing.send",
        "Tell people who may read a channel that you are typing. Sent at most once every 10 s.",
        parameters: [channel], result: "nothing", effect: .reads, scope: .conversation,
        failures: [.notFound, .ambiguous, .forbidden], example: ["channel": "general"],
        run: .outcome { (call) throws(NodeError) in
            try call.node.profiles.sendTyping(call[channel], call.scope)
            return .reply([:])
        })
}

extension ProfileChange.Field {
    /// As the interface calls it.
    var word: String {
        switch self {
        case .description: "description"
        case .country: "country"
        case .phone: "phone"
        case .email: "email"
        case .image: "image"
        }
    }

    init?(word: String) {
        guard let found = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = found
    }
}
