/// The emoji that programs write by name. Uncommon ones keep their names.
enum SlackEmoji {
    /// Longest name that is looked up, in bytes.
    static let nameBytesMax = 32

    static func isNameByte(_ byte: UInt8) -> Bool {
        HTTPText.isAlphanumeric(byte) || "_+-".utf8.contains(byte)
    }

    /// The character of this name, or the name between colons.
    static func character(_ name: String) -> String { known[name] ?? ":\(name):" }

    /// The character of a name with or without colons; `nil` for one that is not known.
    static func named(_ text: String) -> String? {
        var name = Substring(text)
        if name.utf8.count > 2, name.first == ":", name.last == ":" {
            name = name.dropFirst().dropLast()
        }
        guard name.utf8.count <= nameBytesMax else { return nil }
        return known[String(name)]
    }

    /// The text with every known name between colons replaced, and nothing else.
    static func replaced(in text: String) -> String {
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: ":") {
                let name = bytes[(index + 1)...].prefix(nameBytesMax).prefix(while: isNameByte)
                if name.endIndex < bytes.count, bytes[name.endIndex] == UInt8(ascii: ":"),
                    let character = known[String(decoding: name, as: UTF8.self)]
                {
                    output += character.utf8
                    index = name.endIndex + 1
                    continue
                }
            }
            output.append(bytes[index])
            index += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    static let known: [String: String] = [
        "+1": "👍", "-1": "👎", "100": "💯", "alarm_clock": "⏰", "arrow_down": "⬇️",
        "arrow_right": "➡️", "arrow_up": "⬆️", "bangbang": "‼️", "bar_chart": "📊", "beers": "🍻",
        "bell": "🔔", "blue_circle": "🔵", "boom": "💥", "bug": "🐛", "bulb": "💡", "calendar": "📆",
        "chart_with_downwards_trend": "📉", "chart_with_upwards_trend": "📈",
        "checkered_flag": "🏁", "clap": "👏", "construction": "🚧", "cry": "😢", "eyes": "👀",
        "exclamation": "❗", "fire": "🔥", "fire_engine": "🚒", "ghost": "👻", "gear": "⚙️",
        "green_circle": "🟢", "green_heart": "💚", "grey_exclamation": "❕", "grin": "😁",
        "hammer": "🔨", "hammer_and_wrench": "🛠️", "heart": "❤️", "heavy_check_mark": "✔️",
        "heavy_exclamation_mark": "❗", "hourglass": "⌛", "inbox_tray": "📥",
        "information_source": "ℹ️", "joy": "😂", "key": "🔑", "large_blue_circle": "🔵",
        "large_green_circle": "🟢", "large_orange_circle": "🟠", "large_red_circle": "🔴",
        "large_yellow_circle": "🟡", "link": "🔗", "lock": "🔒", "loudspeaker": "📢", "mag": "🔍",
        "mega": "📣", "memo": "📝", "money_with_wings": "💸", "muscle": "💪", "mute": "🔇",
        "negative_squared_cross_mark": "❎", "no_entry": "⛔", "no_entry_sign": "🚫",
        "octagonal_sign": "🛑", "ok": "🆗", "ok_hand": "👌", "open_hands": "👐",
        "orange_circle": "🟠", "outbox_tray": "📤", "package": "📦", "paperclip": "📎",
        "party_popper": "🎉", "pencil": "📝", "point_right": "👉", "pray": "🙏", "pushpin": "📌",
        "question": "❓", "raised_hands": "🙌", "recycle": "♻️", "red_circle": "🔴", "robot": "🤖",
        "robot_face": "🤖", "rocket": "🚀", "rotating_light": "🚨", "seedling": "🌱", "ship": "🚢",
        "skull": "💀", "slightly_smiling_face": "🙂", "smile": "😄", "smiley": "😃", "sob": "😭",
        "sos": "🆘", "sparkles": "✨", "star": "⭐", "stopwatch": "⏱️", "tada": "🎉",
        "thinking_face": "🤔", "thumbsdown": "👎", "thumbsup": "👍", "traffic_light": "🚥",
        "truck": "🚚", "unlock": "🔓", "warning": "⚠️", "wastebasket": "🗑️", "wave": "👋",
        "whale": "🐳", "white_check_mark": "✅", "white_circle": "⚪", "wink": "😉",
        "wrench": "🔧", "x": "❌", "yellow_circle": "🟡", "zap": "⚡", "zzz": "💤",
    ]
}
