import CRDTStore
import WorkspaceModel

/// A provider of accounts, as the owner of this node has configured it.
struct AccountProvider: Equatable {
    /// Its name here, and in attestations.
    var name: String
    /// Who makes the tokens, byte for byte as in `iss`.
    var issuer: String
    /// For which program, as the provider knows it.
    var client: String
    /// The path of a file with its public keys; `nil` where this node only links.
    var keys: String?
    /// Its login page; `nil` where tokens are pasted.
    var page: String?
    /// Where a code becomes a token; `nil` where the page gives tokens.
    var exchange: String?

    /// Whether a text may be its name: small letters, digits and `-`, beginning with a letter.
    static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, isSmall(first),
            text.utf8.count <= Limits.attestedProviderBytesMax
        else { return false }
        return text.utf8.allSatisfy {
            isSmall($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
        }
    }

    private static func isSmall(_ letter: UInt8) -> Bool { (0x61...0x7a).contains(letter) }

    /// The requirements for an address, for people.
    static let addressSentence =
        "begins with https://, or with http://127.0.0.1 or http://localhost, and has no user and no '#'"

    /// Whether a text may be an address of it: `https`, or `http` on this machine, without white space.
    ///
    /// It names no user before an `@`, which makes another machine of what looks like this one, and no part
    /// of a page, since fields are put at its end.
    static func isAddress(_ text: String) -> Bool {
        let letters = Array(text.utf8)
        guard letters.count <= Limits.providerAddressBytesMax,
            letters.allSatisfy({
                (0x21...0x7e).contains($0) && !"\"\\#".utf8.contains($0)
            })
        else { return false }
        if let rest = rest(of: letters, after: "https://") {
            let host = rest.prefix { !endsHost($0) }
            return !host.isEmpty && !host.contains(UInt8(ascii: "@"))
        }
        return ["http://127.0.0.1", "http://localhost"].contains { begin in
            guard var rest = rest(of: letters, after: begin) else { return false }
            if rest.first == UInt8(ascii: ":") {
                let port = rest.dropFirst().prefix { (0x30...0x39).contains($0) }
                guard !port.isEmpty else { return false }
                rest = rest.dropFirst(port.count + 1)
            }
            return rest.first.map(endsHost) ?? true
        }
    }

    private static func endsHost(_ letter: UInt8) -> Bool {
        letter == UInt8(ascii: "/") || letter == UInt8(ascii: "?")
    }

    private static func rest(of letters: [UInt8], after begin: String) -> ArraySlice<UInt8>? {
        letters.starts(with: begin.utf8) ? letters.dropFirst(begin.utf8.count) : nil
    }
}

/// The configured providers, sealed in the store of this node only.
extension AccountProofs {
    private static let keptName = "accounts.providers"

    /// All of them, by name.
    func providers() throws(StorageError) -> [AccountProvider] {
        guard let bytes = try sealedValue(Self.keptName),
            let rows = (try? JSONValue(parsing: bytes))?.arrayValue
        else { return [] }
        return rows.compactMap { row in
            guard let name = row["name"]?.stringValue, let issuer = row["issuer"]?.stringValue,
                let client = row["client"]?.stringValue
            else { return nil }
            return AccountProvider(
                name: name, issuer: issuer, client: client, keys: row["keys"]?.stringValue,
                page: row["page"]?.stringValue, exchange: row["exchange"]?.stringValue)
        }
    }

    /// The one with a name.
    func provider(named name: String) throws(StorageError) -> AccountProvider? {
        try providers().first { $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// Stores them.
    func set(_ providers: [AccountProvider]) throws(StorageError) {
        guard home != nil else { return }
        let rows = providers.sorted { $0.name < $1.name }.map { provider -> JSONValue in
            [
                "name": .string(provider.name), "issuer": .string(provider.issuer),
                "client": .string(provider.client), "keys": JSONValue(orNull: provider.keys),
                "page": JSONValue(orNull: provider.page),
                "exchange": JSONValue(orNull: provider.exchange),
            ]
        }
        try setSealedValue(rows.isEmpty ? nil : JSONValue.array(rows).bytes, of: Self.keptName)
        toldTrouble = [:]
    }
}
