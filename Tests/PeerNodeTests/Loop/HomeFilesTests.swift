import CRDTStore
import Foundation
import Testing
import WorkspaceModel

@testable import PeerNode

struct `The key of a home` {
    private func withHome(_ body: (HomeFolder, DiskHomeFiles) throws -> Void) throws {
        try withTemporaryFolder { root in
            let home = HomeFolder(data: root, socket: root + "/control.sock")
            try home.prepare()
            try body(home, DiskHomeFiles(home: home))
        }
    }

    private func refusal(_ files: DiskHomeFiles) -> HomeFileError? {
        do throws(HomeFileError) { _ = try files.readIdentity() } catch { return error }
        return nil
    }

    static let modes: [(mode: mode_t, isTaken: Bool)] = [
        (0o600, true), (0o400, true), (0o700, true), (0o601, false), (0o602, false),
        (0o604, false), (0o610, false), (0o620, false), (0o640, false), (0o644, false),
        (0o666, false), (0o777, false),
    ]

    @Test(arguments: modes.indices)
    func `is taken only where nobody else may do anything with it`(_ index: Int) throws {
        let (mode, isTaken) = Self.modes[index]
        try withHome { home, files in
            try files.createIdentity([1, 2])
            #expect(chmod(home.identity, mode) == 0)
            let error = refusal(files)
            #expect((error == nil) == isTaken)
            if !isTaken {
                #expect(error?.message.contains("mode \(String(mode, radix: 8))") == true)
                #expect(error?.hint == "chmod 600 '\(home.identity)'")
            }
        }
    }

    @Test func `of any length up to 64 KiB comes back as it was written`() throws {
        for count in [0, 1, 300, 65_535, 65_536] {
            try withHome { _, files in
                let bytes = [UInt8](repeating: 9, count: count)
                try files.createIdentity(bytes)
                #expect(try files.readIdentity() == bytes)
            }
        }
    }

    @Test func `that is no plain file is refused without being opened`() throws {
        try withHome { home, files in
            // A pipe would block its reader endlessly.
            #expect(mkfifo(home.identity, 0o600) == 0)
            #expect(refusal(files)?.message == "\(home.identity) is not a regular file")
            try FileSystem.remove(home.identity)
            #expect(symlink(home.data + "/missing", home.identity) == 0)
            #expect(refusal(files) != nil, "a link to nothing is a link all the same")
            #expect(refusal(files)?.hint == "put the key itself there, not a link to it")
        }
    }

    @Test func `is made in spite of a draft that a crash left, and takes its place`() throws {
        try withHome { home, files in
            try FileSystem.replace(home.data + "/victim", with: [7])
            #expect(symlink(home.data + "/victim", home.identity + ".new") == 0)
            try files.createIdentity([1])
            #expect(try files.readIdentity() == [1])
            #expect(try FileSystem.read(home.data + "/victim", byteCountMax: 9) == [7])
        }
    }

    @Test func `is private whatever the umask, like all that stands beside it`() async {
        await #expect(processExitsWith: .success) {
            umask(0)
            try withTemporaryFolder { root in
                let home = HomeFolder(data: root + "/data", socket: root + "/run/s")
                try home.prepare()
                let files = DiskHomeFiles(home: home)
                try files.createIdentity([1])
                files.write(slot: 0, bytes: [UInt8](repeating: 1, count: 64))
                _ = try home.takeLock()
                _ = try DetachedProcess.openLog(home.log)
                ListenAddress.remember(SocketAddress(host: .loopbackV4, port: 1), in: home)
                for path in [
                    home.identity, home.storeGuard, home.lock, home.log, home.listen,
                ] where try FileSystem.status(of: path).mode != 0o600 { exit(2) }
                for path in [home.data, home.identityFolder, root + "/run"]
                where try FileSystem.status(of: path).mode != 0o700 { exit(3) }
            }
            exit(0)
        }
    }

    // MARK: The guard

    @Test func `has a guard that is nothing when it is too long, and short when it was cut`() throws
    {
        try withHome { home, files in
            for count in [0, 1, 64, 127, 128] {
                let bytes = [UInt8](repeating: 3, count: count)
                try FileSystem.replace(home.storeGuard, with: bytes)
                #expect(files.read() == bytes, "\(count) bytes are for the guard to judge")
            }
            try FileSystem.replace(home.storeGuard, with: [UInt8](repeating: 3, count: 129))
            #expect(files.read() == nil)
        }
    }

    @Test func `has a guard that is written through no link`() throws {
        try withHome { home, files in
            try FileSystem.replace(home.data + "/victim", with: [7])
            #expect(symlink(home.data + "/victim", home.storeGuard) == 0)
            files.write(slot: 0, bytes: [UInt8](repeating: 1, count: 64))
            #expect(try FileSystem.read(home.data + "/victim", byteCountMax: 99) == [7])
        }
    }

    @Test func `is one of the paths of its home`() {
        let home = HomeFolder(data: "/h", socket: "/run/s")
        let paths = [
            home.identityFolder, home.identity, home.store, home.storeGuard, home.lock, home.log,
            home.listen,
        ]
        #expect(
            paths == [
                "/h/identity", "/h/identity/device.key", "/h/node.db", "/h/node.guard", "/h/lock",
                "/h/daemon.log", "/h/listen",
            ])
        #expect(Set(paths).count == paths.count)
    }
}

struct `A start that fails` {
    private let home = HomeFolder(data: "/h", socket: "/h/control.sock")

    static let stores: [(StorageError.Kind, NodeError.Kind, String)] = [
        (.newerSchema, .badConfiguration, "config.invalid"),
        (.olderSchema, .badConfiguration, "config.invalid"),
        (.cannotOpen, .badConfiguration, "config.invalid"),
        (.readOnly, .badConfiguration, "config.invalid"),
        (.notOurs, .badConfiguration, "config.invalid"),
        (.busy, .badConfiguration, "config.invalid"), (.full, .storageFull, "store.full"),
        (.empty, .storeFailed, "store.corrupt"), (.corrupt, .storeFailed, "store.corrupt"),
        (.ioFailure, .storeFailed, "store.io"), (.noMemory, .storeFailed, "store.io"),
        (.misuse, .storeFailed, "store.io"), (.other, .storeFailed, "store.io"),
        (.constraint, .storeFailed, "store.io"), (.transactionLost, .storeFailed, "store.io"),
    ]

    @Test(arguments: stores.indices)
    func `says what is wrong with the store`(_ index: Int) {
        let (found, kind, reason) = Self.stores[index]
        let error = NodeError(start: .store(StorageError(found, "why")), home: home)
        #expect(error.kind == kind)
        #expect(error.reason == reason)
        #expect(!error.message.hasSuffix("."))
        if kind != .storageFull { #expect(error.message.contains("'/h/node.db'")) }
    }

    @Test func `hands on what is wrong with the key`() {
        let error = NodeError(
            start: .identity(HomeFileError("no plain file", hint: "chmod 600 k")), home: home)
        #expect(error.kind == .badConfiguration && error.exitStatus == 78)
        #expect(error.message == "no plain file" && error.hint == "chmod 600 k")
    }

    @Test func `of the control socket says what to do about it`() {
        let rows: [(UnixListener.Failure, NodeError.Kind, String?)] = [
            (.inUse(path: "/s"), .inUse, "wsx-node down"),
            (
                .pathTooLong(path: "/s", byteCount: 200), .badConfiguration,
                "give a shorter --home or --socket"
            ),
            (.inTheWay(path: "/s", kind: .file), .badConfiguration, "move '/s' away"),
            (.foreign(path: "/s", owner: 7), .badConfiguration, nil),
            (.folder(.loose(path: "/", mode: 0o755)), .badConfiguration, nil),
            (.system(SystemError("bind", number: 13)), .badConfiguration, nil),
        ]
        for (failure, kind, hint) in rows {
            let error = NodeError.controlSocket(failure)
            #expect(error.kind == kind && error.hint == hint)
        }
    }

    @Test func `has the usual settings unless told otherwise`() {
        let settings = NodeProcess.Settings(home: home, homeName: "~/h")
        #expect(settings.home == home && settings.homeName == "~/h")
        #expect(settings.logLevel == .info && settings.journal == nil)
        #expect(settings.loop.listen == nil && settings.loop.announces)
    }
}
