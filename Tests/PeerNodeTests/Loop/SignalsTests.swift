import Foundation
import PeerNode
import Testing

struct `The signals of a process` {
    @Test func `arrive as requests, however early they were sent`() async {
        await #expect(processExitsWith: .success) {
            Signals.prepareProcess()
            // To this thread alone: the threads of the test's own runner have not blocked them.
            pthread_kill(pthread_self(), SIGTERM)
            let signals = try Signals()
            var patience = try Patience()
            try patience.wait(for: signals.descriptor)
            #expect(signals.take() == [.stop])
            #expect(signals.take() == [])

            pthread_kill(pthread_self(), SIGHUP)
            pthread_kill(pthread_self(), SIGINT)
            let requests = signals.take()
            #expect(requests.contains(.reopenLog) && requests.contains(.stop))
            #expect(requests.count == 2)
            exit(requests.count == 2 ? 0 : 1)
        }
    }

    @Test func `do not kill a writer whose reader is gone, nor one whose file is full`() async {
        await #expect(processExitsWith: .success) {
            Signals.prepareProcess()
            var ends: (reading: FileDescriptor, writing: FileDescriptor)? = try makePipe()
            let writing = try #require(ends?.writing)
            ends = nil
            guard write(writing.number, "a", 1) == -1, errno == EPIPE else { exit(1) }

            try withTemporaryFolder { folder in
                let path = folder + "/f"
                try FileSystem.replace(path, with: [1, 2, 3])
                var limit = rlimit(rlim_cur: 4_096, rlim_max: 4_096)
                setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
                var number: Int32 = 0
                do throws(SystemError) {
                    try FileSystem.replace(path, with: [UInt8](repeating: 7, count: 8_192))
                } catch { number = error.number }
                guard number == EFBIG, try FileSystem.read(path, byteCountMax: 9) == [1, 2, 3],
                    (try? FileSystem.status(of: path + ".new")) == nil
                else { exit(2) }
            }
            exit(0)
        }
    }

    @Test func `leave a process without core files once that was asked`() async {
        await #expect(processExitsWith: .success) {
            guard ProcessHardening.mayBeDumped else { exit(1) }
            try ProcessHardening.forbidDumps()
            exit(ProcessHardening.mayBeDumped ? 2 : 0)
        }
    }

    @Test func `find the three standard descriptors open again`() async {
        await #expect(processExitsWith: .success) {
            // Another thread of this process may open and close something in between; a program
            // has none yet when it does this.
            for _ in 0..<100 {
                close(0)
                close(1)
                StandardDescriptors.ensureOpen()
                let (reading, writing) = try makePipe()
                if fcntl(0, F_GETFD) == 0, reading.number > 2, writing.number > 2 { exit(0) }
            }
            exit(1)
        }
    }
}
