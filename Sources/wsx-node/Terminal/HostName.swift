import Glibc
import WorkspaceModel

/// What the machine is called, as far as that can name a device to other people.
enum HostName {
    /// The name that a device gets where nobody has chosen one.
    ///
    /// Only the first label: the domain says where a machine stands, which is nobody's business.
    ///
    /// - Parameter host: as the system calls the machine.
    /// - Returns: `nil` for a name that says nothing, such as `localhost`, or that no device may
    ///   have.
    static func device(_ host: String) -> String? {
        let label = host.utf8.prefix { $0 != UInt8(ascii: ".") }
        guard let label = String(label), label.lowercased() != "localhost" else { return nil }
        let cut = String(label.prefix(Limits.nameCharactersMax))
        return (try? CheckedName(authored: cut))?.text
    }

    /// What the system calls this machine; empty where it does not say.
    static var own: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
        let bytes = buffer.map { UInt8(bitPattern: $0) }
        return String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self) ?? ""
    }
}
