import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

struct `A name that nobody could see` {
    /// Members write such names with programs of their own.
    @Test(arguments: ["\u{200B}", "\u{FEFF}\u{200B}", "\u{301}", "\u{2800}"])
    func `shows as a number`(name: String) throws {
        let bench = CoreBench()
        let mina = try bench.node("Mina")
        let joon = try bench.guest("Joon", of: mina)
        bench.advance(5_000)
        let known = try mina.workspace()
        let member = try joon.workspace().member
        known.people.profileNames[member] = name
        known.judged.derived.names = [:]
        #expect(known.displayName(of: member) == String(PublicID.member(member).prefix(10)))
        #expect(CheckedName.isBlank(name) && !CheckedName.isBlank("a" + name))
    }
}
