import Glibc
import WorkspaceModel

/// The machine's name, as far as it is suitable for a device.
enum HostName {
    /// The default name of a device.
    ///
    /// Only the first label: the domain would reveal where the machine is.
    ///
    /// - Parameter host: the system's host name.
    /// - Returns: `nil` for a meaningless name, such as `localhost`, or one that
    ///   devices may not have.
    static func device(_ host: String) -> String? {
        let label = host.utf8.prefix { $0 != UInt8(ascii: ".") }
        guard let label = String(label), label.lowercased() != "localhost" else { return nil }
        let cut = String(label.prefix(Limits.nameCharactersMax))
        return (try? CheckedName(authored: cut))?.text
    }

    /// The system's host name; empty if unknown.
    static var own: String {
        var buffer = [CChar](repeating: 0, count: 256)
        guard gethostname(&buffer, buffer.count - 1) == 0 else { return "" }
        let bytes = buffer.map { UInt8(bitPattern: $0) }
        return String(validating: bytes.prefix { $0 != 0 }, as: UTF8.self) ?? ""
    }
}
