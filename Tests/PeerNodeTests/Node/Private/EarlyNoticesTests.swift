import Testing
import WorkspaceModel

@testable import PeerNode

struct `Notices of documents that are not here yet` {
    private func entry(_ number: Int, by sender: Int) -> EarlyNotices.Entry {
        let words = (UInt64(number), UInt64(sender))
        return .init(
            document: DocumentID(words: (words.0, 0, 0, 1)),
            notice: PrivateNotice(
                operation: OperationID(words: (words.0, words.1, 0, 2)),
                sender: MemberID(words: (words.1, 3))))
    }

    @Test func `are 256 of one sender and 1 024 in all`() {
        var notices = EarlyNotices()
        let ofOne = (0...Limits.earlyNoticesOfOneMax).map { notices.take(entry($0, by: 0)) }
        #expect(ofOne.allSatisfy { $0 })
        // The oldest has gone: what a device has said that is revoked by now keeps nobody's word out.
        #expect(notices.entries.count == Limits.earlyNoticesOfOneMax)
        #expect(!notices.entries.contains(entry(0, by: 0)))
        for sender in 1..<40 {
            for number in 0..<Limits.earlyNoticesOfOneMax {
                _ = notices.take(entry(number, by: sender))
            }
        }
        #expect(notices.entries.count == Limits.earlyNoticesMax)
    }

    /// A linked device hears at once of each channel that its person ever had to leave.
    @Test func `are limited by the room for them if your own device passes them on`() {
        var notices = EarlyNotices()
        let taken = (0...Limits.earlyNoticesMax).map {
            notices.take(entry($0, by: 0), isHandedOn: true)
        }
        #expect(taken.allSatisfy { $0 })
        #expect(notices.entries.count == Limits.earlyNoticesMax)
    }

    @Test func `have room for a peer that brings few, however many others bring`() {
        var notices = EarlyNotices()
        for sender in 0..<16 {
            for number in 0..<Limits.earlyNoticesOfOneMax {
                _ = notices.take(entry(number, by: sender))
            }
        }
        let honest = entry(7, by: 99)
        let hasRoom = notices.take(honest)
        #expect(hasRoom)
        for sender in 0..<16 { _ = notices.take(entry(1_000, by: sender)) }
        #expect(notices.entries.count == Limits.earlyNoticesMax)
        #expect(notices.entries.contains(honest))
    }

    @Test func `come back as they were stored, and are given once`() {
        var notices = EarlyNotices()
        for sender in 0..<3 { _ = notices.take(entry(7, by: sender)) }
        _ = notices.take(entry(8, by: 0))
        #expect(EarlyNotices(notices.bytes).entries == notices.entries)
        #expect(EarlyNotices(Array(notices.bytes.dropLast())).entries.count == 3)
        let known = entry(7, by: 1)
        let people = Set([known.notice.sender].compactMap { $0 })
        #expect(notices.give(of: known.document, by: people) == [known.notice])
        #expect(notices.give(of: known.document, by: people).isEmpty)
        #expect(notices.entries.count == 3)
    }
}
