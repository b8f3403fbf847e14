import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A message in Slack's shape` {
    private func text(_ json: String) throws -> String {
        let value = try JSONValue(parsing: json)
        return SlackMessage(try #require(value.objectValue)).text
    }

    static let rows: [(String, String)] = [
        (#"{"text":"*b* <https://x|y>"}"#, "**b** [y](https://x)"),
        (#"{"text":"*b* &amp;","mrkdwn":false}"#, "*b* &"), (#"{"text":12.5}"#, "12.5"),
        (#"{"text":null}"#, ""), (#"{}"#, ""), (#"{"text":["a"]}"#, ""),
        (#"{"text":"a","username":"ci"}"#, "ci: a"),
        (#"{"text":"a","username":"ci","icon_emoji":":robot_face:"}"#, "🤖 ci: a"),
        (#"{"text":"a","icon_emoji":":fire:"}"#, "🔥 a"),
        (#"{"text":"a","icon_emoji":":own_picture:"}"#, "a"),
        (#"{"text":"a","icon_url":"https://x/i.png"}"#, "https://x/i.png: a"),
        (
            #"{"text":"a","username":"ci","icon_url":"https://x/i.png"}"#,
            "[ci](https://x/i.png): a"
        ),
        (#"{"username":"ci"}"#, ""),
        // Blocks stand for the text.
        (
            #"{"text":"short","blocks":[{"type":"header","text":{"type":"plain_text","text":"T"}}]}"#,
            "**T**"
        ),
        (#"{"text":"short","blocks":[]}"#, "short"), (#"{"text":"s","blocks":[{}]}"#, "s"),
        (
            #"{"blocks":[{"type":"section","text":{"type":"mrkdwn","text":"*a*"},"fields":["#
                + #"{"type":"mrkdwn","text":"*k:*\nv"},{"type":"plain_text","text":"*p* :x:"}]}]}"#,
            "**a**\n**k:**\nv\n*p* ❌"
        ),
        (
            #"{"blocks":[{"type":"section","text":{"type":"plain_text","text":":x:","emoji":false}}]}"#,
            ":x:"
        ),
        (
            #"{"blocks":[{"type":"section","text":"bare"},{"type":"divider"},{"type":"context","#
                + #""elements":[{"type":"image","alt_text":"i","image_url":"https://x/i"},"#
                + #"{"type":"mrkdwn","text":"_c_"}]}]}"#, "bare\n---\n[i](https://x/i) _c_"
        ),
        (
            #"{"blocks":[{"type":"image","alt_text":"a","title":{"type":"plain_text","text":"T"},"#
                + #""image_url":"https://x/p"}]}"#, "[T](https://x/p)"
        ),
        (
            #"{"blocks":[{"type":"actions","elements":[{"type":"button","text":{"type":"plain_text","#
                + #""text":"Open"},"url":"https://x"},{"type":"button","text":{"type":"plain_text","#
                + #""text":"Ack"}},{"type":"button","url":"https://y"}]}]}"#,
            "[Open](https://x) · https://y"
        ),
        (
            #"{"blocks":[{"type":"from_the_future","text":{"type":"mrkdwn","text":"*t*"}},7,"x"]}"#,
            "**t**"
        ),
        // Attachments.
        (
            #"{"attachments":[{"title":"[FIRING:1] Disk","title_link":"https://a/#/alerts","#
                + #""text":"","fallback":"never shown","color":"danger","footer":""}]}"#,
            "**[[FIRING:1] Disk](https://a/#/alerts)**"
        ),
        (#"{"text":"","attachments":[{"fallback":"only this"}]}"#, "only this"),
        (
            #"{"text":"top","attachments":[{"pretext":"*p*","author_name":"A","title":"T","text":"t","#
                + #""fields":[{"title":"cpu","value":97,"short":true},{"title":"n","value":1.50},{}],"#
                + #""image_url":"https://x/i","actions":[{"type":"button","text":"Go","url":"https://g"},"#
                + #"{"text":"no"}],"footer":"F","ts":1700000000}]}"#,
            "top\n**p**\nA\n**T**\nt\ncpu: 97\nn: 1.50\nhttps://x/i\n[Go](https://g)\nF"
        ),
        (#"{"attachments":[{"text":"*a*","pretext":"*b*","mrkdwn_in":["text"]}]}"#, "*b*\n**a**"),
        (#"{"attachments":[{"fields":[{"title":"k","value":"*v*"}],"mrkdwn_in":[]}]}"#, "k: *v*"),
        (
            #"{"attachments":[{"blocks":[{"type":"section","text":{"type":"mrkdwn","text":"in"}}]},"#
                + #"{"thumb_url":"https://x/t"},[],"x",null]}"#, "in\nhttps://x/t"
        ),
        (#"{"attachments":{"text":"no list"},"blocks":"x","text":"t"}"#, "t"),
    ]

    @Test(arguments: rows)
    func `is flattened`(json: String, expected: String) throws {
        #expect(try text(json) == expected)
    }

    @Test func `keeps what an editor made of it`() throws {
        let json = #"""
            {"blocks":[{"type":"rich_text","elements":[
             {"type":"rich_text_section","elements":[
              {"type":"text","text":"Hi "},{"type":"user","user_id":"U1"},{"type":"text","text":" "},
              {"type":"text","text":"bold","style":{"bold":true,"italic":true}},
              {"type":"text","text":" ","style":{"bold":true}},
              {"type":"link","url":"https://x","text":"site"},{"type":"link","url":"https://y"},
              {"type":"emoji","name":"tada"},{"type":"emoji","name":"own"},
              {"type":"broadcast","range":"here"},{"type":"channel","channel_id":"C1"},
              {"type":"usergroup","usergroup_id":"S1"},{"type":"color","value":"#fff"},
              {"type":"date","timestamp":1,"fallback":"then"},{"type":"new","text":"!"}]},
             {"type":"rich_text_list","style":"ordered","offset":1,"indent":1,"elements":[
              {"type":"rich_text_section","elements":[{"type":"text","text":"one"}]},
              {"type":"rich_text_section","elements":[{"type":"text","text":"two",
               "style":{"code":true,"strike":true}}]}]},
             {"type":"rich_text_list","style":"bullet","elements":[
              {"type":"rich_text_section","elements":[{"type":"text","text":"dot"}]}]},
             {"type":"rich_text_quote","elements":[{"type":"text","text":"a\nb"}]},
             {"type":"rich_text_preformatted","elements":[{"type":"text","text":"x = 1"}]}]}]}
            """#
        #expect(
            try text(json) == """
                Hi @U1 **_bold_** [site](https://x)https://y🎉:own:@here#C1@S1#fffthen!
                  2. one
                  3. ~~`two`~~
                - dot
                > a
                > b
                ```
                x = 1
                ```
                """)
    }

    @Test func `takes numbers of any size where it wants small ones`() throws {
        for number in ["9223372036854775807", "-9223372036854775808", "1e300", "\"x\"", "null"] {
            let json =
                #"{"blocks":[{"type":"rich_text","elements":[{"type":"rich_text_list","#
                + #""style":"ordered","offset":\#(number),"indent":\#(number),"elements":["#
                + #"{"elements":[{"type":"text","text":"x"}]}]}]}]}"#
            #expect(try text(json).hasSuffix(". x"))
        }
    }

    /// Whatever stands where, it is text or left out.
    @Test(arguments: Seeds.explore(40))
    func `with anything in any place is text`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let names = [
            "text", "blocks", "attachments", "type", "elements", "fields", "style", "url", "title",
            "value", "actions", "accessory", "mrkdwn_in", "username", "image_url", "offset",
        ]
        let words = [
            "section", "rich_text", "rich_text_list", "rich_text_section", "context", "actions",
            "button", "image", "mrkdwn", "plain_text", "ordered", "*x*", "<https://x|y>", "",
        ]
        func value(_ depth: Int) -> JSONValue {
            switch random.below(depth > 5 ? 4 : 8) {
            case 0, 1: return .string(words[random.below(words.count)])
            case 2: return .integer(Int64(bitPattern: random.next()))
            case 3: return random.oneIn(2) ? .null : .bool(random.oneIn(2))
            case 4, 5: return .array((0..<random.below(4)).map { _ in value(depth + 1) })
            default:
                var object = JSONObject()
                for _ in 0..<random.below(6) {
                    object[names[random.below(names.count)]] = value(depth + 1)
                }
                return .object(object)
            }
        }
        for _ in 0..<30 {
            var object = JSONObject()
            for name in ["text", "blocks", "attachments"] { object[name] = value(0) }
            let once = SlackMessage(object).text
            #expect(once == SlackMessage(object).text)
        }
    }
}
