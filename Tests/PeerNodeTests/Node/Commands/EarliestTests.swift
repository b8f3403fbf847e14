import Testing

@testable import PeerNode

@Suite("The earliest moment")
struct EarliestTests {
    @Test func `of none is none`() {
        var first = Earliest()
        first.take(nil)
        #expect(first.moment == nil)
        #expect(Earliest(nil, nil, nil, nil).moment == nil)
    }

    @Test(
        arguments: [[3, 2, 1, 4], [1, 2, 3, 4], [4, nil, 1, nil], [nil, nil, 5, 1]] as [[UInt64?]])
    func `is the smallest, wherever it stands`(_ moments: [UInt64?]) {
        #expect(Earliest(moments[0], moments[1], moments[2], moments[3]).moment == 1)
        var taken = Earliest()
        for moment in moments { taken.take(moment) }
        #expect(taken.moment == 1)
    }
}
