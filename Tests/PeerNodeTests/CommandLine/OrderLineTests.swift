import PeerNode
import Testing
import WorkspaceModel

@testable import wsx_node

/// Orders, and failures with several fields, in the output for people.
struct `An order, for people` {
    private static let order: JSONValue = [
        "id": "p_01hx9t4c", "state": "open", "item": "small", "label": "Small pack", "amount": 2,
        "coins": 200, "price": "5 EUR at pay.example/acme",
        "buyer": ["id": "u_2", "name": "Joon"], "at": 1_795_190_000_000, "ledger": "l_1",
    ]

    private func rendering(isPlain: Bool = false) -> Rendering {
        var globals = GlobalFlags()
        globals.plain = isPlain
        globals.color = "never"
        return Rendering(globals: globals, environment: [:], io: MemoryIO())
    }

    @Test func `says what it costs, and what its buyer does next`() {
        let text = rendering().text(Self.order, of: "store.buy")
        #expect(text.contains("5 EUR at pay.example/acme"), "\(text)")
        #expect(text.contains("p_01hx9t4c") && text.contains("Small pack"))
        #expect(text.contains("  next: pay the issuer as the price says, then\n"), "\(text)")
        #expect(text.hasSuffix("wsx-node store validate p_01hx9t4c --receipt TEXT\n"))
    }

    /// The same call again, when it was paid meanwhile.
    @Test func `that is paid has nothing to be done next`() {
        var order = Self.order.objectValue ?? [:]
        order["state"] = "granted"
        let text = rendering().text(.object(order), of: "store.buy")
        #expect(text.contains("granted") && !text.contains("next:"))
    }

    @Test func `is one row with its price for programs, and in a list`() {
        let plain = rendering(isPlain: true).text(Self.order, of: "store.buy")
        #expect(plain.hasPrefix("p_01hx9t4c\t") && !plain.contains("next:"))
        let list = rendering().text(["items": [Self.order], "next": .null], of: "store.orders")
        #expect(list.contains("PRICE") && list.contains("5 EUR at pay.example/acme"), "\(list)")
    }

    @Test func `that fails in several fields says each once, and in words`() {
        let io = MemoryIO()
        let error = NodeError(
            .badRequest, "'name' is empty; '--email' must be an address",
            fields: [
                .init(name: "name", reason: "empty"), .init(name: "--email", reason: "form"),
                .init(name: "--phone", reason: "form"),
                .init(name: "--passphrase", reason: "too_short"),
            ])
        Program.report(error, json: false, io: io)
        #expect(!io.errors.contains("--email: "))
        #expect(io.errors.contains("--phone: not in the right form\n"))
        #expect(io.errors.contains("--passphrase: too short\n"))
    }
}
