import WorkspaceModel

/// Firewalls that block peers: ufw and firewalld, as far as their files can be read.
extension MachineSurroundings {
    /// What a firewall does with a port.
    enum Gate: Equatable {
        case open
        case closed
        /// It is on, and its rules are not for us to read.
        case unknown
    }

    /// `nil` where no firewall is on, or nothing could come from outside anyway.
    func firewallFinding(_ facts: SurroundingsFacts) -> FindingObject? {
        guard let port = facts.port, !facts.listen.allSatisfy(Self.isLoopback) else { return nil }
        if let gate = ufw(port) {
            return finding("ufw", gate, port, "sudo ufw allow \(port)/tcp")
        }
        if let gate = firewalld(port) {
            return finding(
                "firewalld", gate, port,
                "sudo firewall-cmd --add-port=\(port)/tcp && sudo firewall-cmd "
                    + "--runtime-to-permanent")
        }
        return .init(id: "firewall", state: "ok", message: "neither ufw nor firewalld is on")
    }

    private func finding(
        _ name: String, _ gate: Gate, _ port: UInt16, _ remedy: String
    ) -> FindingObject {
        switch gate {
        case .open:
            .init(id: "firewall", state: "ok", message: "\(name) is on and port \(port) is open")
        case .closed:
            .init(
                id: "firewall", state: "warn",
                message: "\(name) is on and port \(port) is closed: others cannot reach this node",
                hint: remedy)
        case .unknown:
            .init(
                id: "firewall", state: "warn",
                message: "\(name) is on, and port \(port) may be closed: its rules cannot be read "
                    + "here", hint: remedy)
        }
    }

    // MARK: ufw

    /// `nil` where it is off.
    func ufw(_ port: UInt16) -> Gate? {
        guard let settings = read("/etc/ufw/ufw.conf").text,
            Self.setting("ENABLED", in: settings) == "yes"
        else { return nil }
        let policy = read("/etc/default/ufw").text.flatMap {
            Self.setting("DEFAULT_INPUT_POLICY", in: $0)
        }
        if policy == "ACCEPT" { return .open }
        switch read("/etc/ufw/user.rules") {
        case .text(let rules): return Self.ufwRules(rules, allow: port) ? .open : .closed
        case .missing: return .closed
        case .unreadable: return .unknown
        }
    }

    /// The value of a line `NAME=value` of a shell's settings, without quotation marks.
    static func setting(_ name: String, in text: String) -> String? {
        for line in text.split(whereSeparator: \.isNewline) {
            let line = line.drop { $0 == " " }
            guard line.hasPrefix(name + "=") else { continue }
            return line.dropFirst(name.count + 1)
                .filter { $0 != "\"" && $0 != "'" && $0 != " " }
        }
        return nil
    }

    /// Whether a rule before any that denies allows the port by TCP. A rule for only some addresses
    /// counts too: its author chose them on purpose.
    static func ufwRules(_ rules: String, allow port: UInt16) -> Bool {
        for line in rules.split(whereSeparator: \.isNewline) {
            // ### tuple ### allow tcp 29790 0.0.0.0/0 any 0.0.0.0/0 in
            let words = line.split(separator: " ")
            guard words.count >= 9, words[1] == "tuple", words[4] == "tcp" || words[4] == "any",
                words[9...].first.map({ $0.hasPrefix("in") }) ?? true,
                covers(words[5], port)
            else { continue }
            return words[3] == "allow" || words[3].hasPrefix("limit")
        }
        return false
    }

    /// Whether `any`, `80`, `80,443` or `1000:2000` has the port in it.
    private static func covers(_ ports: Substring, _ port: UInt16) -> Bool {
        if ports == "any" { return true }
        return ports.split(separator: ",").contains { part in
            let ends = part.split(separator: ":").compactMap { UInt16($0) }
            guard let first = ends.first, let last = ends.last else { return false }
            return first <= port && port <= last
        }
    }

    // MARK: firewalld

    /// `nil` where it does not run.
    func firewalld(_ port: UInt16) -> Gate? {
        guard exists("/run/firewalld.pid") || exists("/run/firewalld/firewalld.pid") else {
            return nil
        }
        let zone: String
        switch read("/etc/firewalld/firewalld.conf") {
        case .text(let text): zone = Self.setting("DefaultZone", in: text) ?? "public"
        case .missing: zone = "public"
        case .unreadable: return .unknown
        }
        if zone == "trusted" { return .open }
        guard !zone.contains("/") else { return .unknown }
        // A zone that the owner has not changed is as shipped, and does not allow this port.
        for folder in ["/etc/firewalld/zones", "/usr/lib/firewalld/zones"] {
            switch read("\(folder)/\(zone).xml") {
            case .text(let text): return Self.zone(text, allows: port) ? .open : .closed
            case .unreadable: return .unknown
            case .missing: continue
            }
        }
        return .closed
    }

    /// Whether a zone has an element `<port protocol="tcp" port="29790"/>`, or takes everything.
    static func zone(_ text: String, allows port: UInt16) -> Bool {
        for element in text.split(separator: "<") {
            if element.hasPrefix("zone"), element.holds("target=\"ACCEPT\"") { return true }
            guard element.hasPrefix("port "), element.holds("protocol=\"tcp\""),
                let range = attribute("port", of: element)
            else { continue }
            if covers(Substring(String(range.map { $0 == "-" ? ":" : $0 })), port) { return true }
        }
        return false
    }

    private static func attribute(_ name: String, of element: Substring) -> String? {
        for part in element.split(separator: " ") where part.hasPrefix(name + "=\"") {
            return String(part.dropFirst(name.count + 2).prefix { $0 != "\"" })
        }
        return nil
    }
}
