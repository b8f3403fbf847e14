import Foundation
import Glibc
import Testing
import WorkspaceModel
import WorkspaceTestKit

extension TerminalEndToEnd {
    /// Coins with the real program and a payment gateway of a few lines, which tells the truth, lies, hangs
    /// and pays twice, as a file beside it says.
    struct `Coins and the store` {
        private static let receipt = "xylograph-receipt-4711"

        private let mina = TemporaryNode()
        private let joon = TemporaryNode()
        private let folder: String

        init() throws {
            folder = mina.folder + "/gateway"
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true)
            mina.up(name: "Mina", workspace: "acme")
            let joined = joon.join(mina.invite(), name: "Joon")
            try #require(joined.status == 0, "\(joined.errors)")
            try #require(mina.run("ledger", "open", "coins").status == 0)
            let offered = mina.run(
                "store", "offer", "small", "Small pack", "--coins", "100", "--price", "5 EUR")
            try #require(offered.status == 0, "\(offered.errors)")
            try writeGateway()
            try #require(
                mina.run("store", "verify-command", folder + "/gateway").status == 0)
            try #require(eventually { joon.run("store", "list").output.contains("small") })
        }

        private func writeGateway() throws {
            let script = """
                #!/bin/sh
                # A payment gateway: reads an order and a receipt, and looks at no argument.
                asked=$(cat)
                cat /proc/[0-9]*/cmdline > '\(folder)/arguments' 2> /dev/null
                cat /proc/[0-9]*/environ > '\(folder)/variables' 2> /dev/null
                case "$asked" in *\(Self.receipt)*) ;; *) echo '{"paid":false}'; exit 0 ;; esac
                case "$(cat '\(folder)/mode')" in
                pay) echo '{"paid":true,"billing":"ch_1"}' ;;
                lie) echo '{"paid":true,"billing":"ch_2","coins":1000000}' ;;
                hang) sleep 1000 ;;
                *) exit 1 ;;
                esac
                """
            let path = folder + "/gateway"
            try script.write(toFile: path, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o700], ofItemAtPath: path)
        }

        private func set(_ mode: String) throws {
            try mode.write(toFile: folder + "/mode", atomically: true, encoding: .utf8)
        }

        private func buy() throws -> String {
            let bought = joon.run("store", "buy", "small", "--json")
            let id = try #require(bought.object["id"]?.stringValue, "\(bought.errors)")
            try #require(
                eventually { mina.run("store", "orders", "--json").output.contains(id) })
            return id
        }

        private func validate(_ order: String, _ receipt: String) -> TemporaryNode.Outcome {
            joon.run(
                "store", "validate", order, "--receipt", "-", "--json", input: receipt + "\n")
        }

        private func balance(on node: TemporaryNode) -> Int64? {
            node.run("coin", "balance", "@Joon", "--json").object["balance"]?.integerValue
        }

        /// Every file below a folder that holds a word.
        private func files(with word: String, below folder: String) -> [String] {
            let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String }
            return (names ?? []).filter { name in
                guard let data = FileManager.default.contents(atPath: folder + "/" + name) else {
                    return false
                }
                return ByteSearch.finds(Array(word.utf8), in: [UInt8](data))
            }
        }

        @Test func `are bought with a receipt, checked by any program, and spent`() throws {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let order = try buy()
            try set("lie")
            let lied = validate(order, Self.receipt)
            #expect(lied.status == 1 && lied.error.kind == "invalid_receipt", "\(lied.errors)")
            let other = validate(order, "another receipt")
            #expect(other.error.kind == "invalid_receipt", "\(other.errors)")
            #expect(balance(on: joon) == 0)
            try set("pay")
            let paid = validate(order, Self.receipt)
            #expect(paid.status == 0 && paid.object["state"] == "granted", "\(paid.errors)")
            #expect(balance(on: joon) == 100)
            #expect(eventually { balance(on: mina) == 100 })
            let twice = validate(order, Self.receipt)
            #expect(twice.status == 1 && twice.error.kind == "already_redeemed", "\(twice.errors)")
            // It pays for no other order, whatever the gateway says.
            let second = validate(try buy(), Self.receipt)
            #expect(second.error.kind == "already_redeemed", "\(second.errors)")
            #expect(balance(on: joon) == 100)
            let spent = joon.run("coin", "spend", "30", "a logo")
            #expect(spent.status == 0, "\(spent.errors)")
            let short = joon.run("coin", "spend", "71", "more", "--json")
            #expect(short.status == 1 && short.error.kind == "insufficient_coins")
            #expect(eventually { balance(on: mina) == 70 })
            // The receipt is in no file, no argument and no variable of either.
            for node in [mina, joon] {
                #expect(files(with: Self.receipt, below: node.home).isEmpty)
            }
            #expect(files(with: Self.receipt, below: folder) == ["gateway"])
        }

        @Test func `are not granted by a gateway that hangs, and nobody waits for it`() throws {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let order = try buy()
            try set("hang")
            let waiting = try joon.start(
                "store", "validate", order, "--receipt", Self.receipt, "--timeout", "120s",
                environment: [:])
            #expect(
                eventually { FileManager.default.fileExists(atPath: folder + "/variables") })
            // The node of the issuer goes on meanwhile.
            let sent = mina.run("send", "general", "hello", "--timeout", "10s")
            #expect(sent.status == 0, "\(sent.errors)")
            waiting.process.waitUntilExit()
            #expect(waiting.process.terminationStatus == 7)
            #expect(balance(on: joon) == 0)
            try set("pay")
            let paid = validate(order, Self.receipt)
            #expect(paid.object["state"] == "granted", "\(paid.errors)")
        }

        @Test func `pay for a workspace`() throws {
            defer { try? FileManager.default.removeItem(atPath: folder) }
            try #require(mina.run("store", "price", "60").status == 0)
            try set("pay")
            #expect(validate(try buy(), Self.receipt).status == 0)
            try #require(eventually { joon.run("store", "price").output.contains("60") })
            let made = joon.run("workspace", "create", "paid", "--paid-from", "coins")
            #expect(made.status == 0, "\(made.errors)")
            let shown = joon.run("workspace", "show", "paid", "--json").object
            #expect(shown["payment"]?["state"] == "paid", "\(shown.text)")
            let short = joon.run(
                "workspace", "create", "second", "--paid-from", "coins", "--json")
            #expect(short.status == 1 && short.error.kind == "insufficient_coins")
            #expect(!joon.run("workspace", "list").output.contains("second"))
            let people = joon.run("workspace", "show", "paid").output
            #expect(people.contains("paid"), "\(people)")
            #expect(mina.run("help", "coins").output.contains("A coin is one member's word"))
        }
    }
}
