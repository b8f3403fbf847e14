import Testing

@testable import SyncProtocol

struct `The pace of comparisons` {
    private func places(_ pace: inout ComparisonPace, _ count: Int, at now: UInt64) -> [UInt64] {
        (0..<count).map { _ in pace.place(at: now) - now }
    }

    @Test func `lets three begin at once, and one more each 10 s`() {
        var pace = ComparisonPace()
        #expect(places(&pace, 6, at: 1_000) == [0, 0, 0, 10_000, 20_000, 30_000])
    }

    @Test func `lets three begin again after half a minute`() {
        var pace = ComparisonPace()
        _ = places(&pace, 3, at: 1_000)
        #expect(places(&pace, 4, at: 31_000) == [0, 0, 0, 10_000])
    }

    @Test func `gives each place away once`() {
        var pace = ComparisonPace()
        _ = places(&pace, 5, at: 1_000)
        #expect(places(&pace, 2, at: 6_000) == [25_000, 35_000])
    }
}
