private import CLinux

/// Reports that this machine's addresses or links changed: a cable, another Wi-Fi, a VPN.
///
/// It reports that something changed and not what, so nothing can be missed: query
/// `NetworkInterface.reachableAddresses` and compare.
public final class NetworkChanges {
    /// Readable when something changed.
    public let descriptor: FileDescriptor

    /// - Throws: `SystemError` where the system has no rtnetlink, as in some containers. The node
    ///   then checks from time to time.
    public init() throws(SystemError) {
        descriptor = try .result(of: "netlink") { wsx_network_changes() }
    }

    /// Whether anything changed since the last call. Call it when the poller says readable.
    public func take() throws(SystemError) -> Bool {
        let result = wsx_drain_network_changes(descriptor.number)
        if result < 0 { throw SystemError("recv", path: "netlink") }
        return result == 1
    }
}
