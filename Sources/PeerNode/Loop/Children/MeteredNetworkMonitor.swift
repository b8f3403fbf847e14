/// Asks NetworkManager whether the network is metered, one query at a time.
///
/// It uses the tools of systemd or NetworkManager; without either, or without an answer, the state
/// is unknown.
///
/// - Not thread-safe: it belongs to the loop's thread.
final class MeteredNetworkMonitor {
    /// NetworkManager says 1 yes, 2 no, 3 and 4 the same as a guess. The status says it on.
    private static let command = """
        n=org.freedesktop.NetworkManager
        case "$(busctl --timeout=2 get-property $n /org/freedesktop/NetworkManager $n Metered)" in
        'u 1'|'u 3') exit 10 ;;
        'u 2'|'u 4') exit 11 ;;
        esac
        case "$(nmcli -w 2 -t -g GENERAL.METERED device show)" in
        yes*) exit 10 ;;
        no*) exit 11 ;;
        esac
        exit 12
        """
    private static let patienceMilliseconds: UInt64 = 10_000

    private let driver: NodeDriver
    private let command: String
    private var running: WatchedChild?
    private var inputs: [NodeInput] = []
    private var isClosed = false

    /// - Parameter command: for tests; its status is 10 for metered, 11 for not.
    init(driver: NodeDriver, command: String? = nil) {
        self.driver = driver
        self.command = command ?? Self.command
    }

    /// Whether `takeInputs` would give something.
    var hasInputs: Bool { !inputs.isEmpty }
    /// When a question that is not answered is given up.
    var nextDeadline: UInt64? { running?.deadline }

    /// The inputs for the core.
    func takeInputs() -> [NodeInput] {
        defer { inputs = [] }
        return inputs
    }

    /// Asks, unless an answer is awaited.
    func look(now: UInt64) {
        guard !isClosed, running == nil else { return }
        do throws(SystemError) {
            running = try WatchedChild.start(
                command, until: now &+ Self.patienceMilliseconds, on: driver)
        } catch { inputs.append(.metered(nil)) }
    }

    /// Takes the answer.
    ///
    /// - Returns: whether the descriptor is its own.
    func handle(_ ready: Poller.Ready) -> Bool {
        guard let running, running.token == ready.token else { return false }
        let status = running.takeEnd(on: driver)
        self.running = nil
        inputs.append(.metered(status == 10 ? true : status == 11 ? false : nil))
        return true
    }

    /// Gives up a question that takes too long.
    func passTime(now: UInt64) { running?.passTime(now: now) }

    /// Stops asking.
    func close() {
        isClosed = true
        running?.end(on: driver)
        running = nil
    }
}
