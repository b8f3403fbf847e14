import Testing
import WorkspaceModel

struct `A rejection` {
    struct Row: Sendable, CustomTestStringConvertible {
        let rejection: Rejection
        let word: String
        var testDescription: String { word }
    }

    static let rows = [
        Row(rejection: .malformed(Malformed(.truncated, at: 3)), word: "op.malformed"),
        Row(rejection: .malformed(Malformed(.inconsistent, at: 0)), word: "op.malformed"),
        Row(rejection: .malformed(Malformed(.depthExceeded, at: 9)), word: "op.too_deep"),
        Row(rejection: .tooLarge, word: "op.too_large"),
        Row(rejection: .tooManyDependencies, word: "op.too_many_deps"),
        Row(rejection: .badSignature, word: "op.bad_signature"),
        Row(rejection: .wrongScope, word: "op.wrong_scope"),
        Row(rejection: .wrongRoot, word: "op.wrong_scope"),
        Row(rejection: .outOfOrder, word: "op.malformed"),
        Row(rejection: .unauthorised, word: "auth.fault"),
    ]

    @Test(arguments: rows)
    func `has its stable word`(_ row: Row) { #expect(row.rejection.word == row.word) }

    @Test(arguments: Malformed.Reason.allCases)
    func `of malformed bytes says no more than too deep or not`(_ reason: Malformed.Reason) {
        let word = Rejection.malformed(Malformed(reason, at: 7)).word
        #expect(word == (reason == .depthExceeded ? "op.too_deep" : "op.malformed"))
    }
}

struct `A complaint about bytes` {
    /// Logs and refusals show these words, so they never change.
    @Test func `has one of a closed list of words`() {
        #expect(
            Malformed.Reason.allCases.map(\.rawValue) == [
                "truncated", "not-canonical", "unsupported", "wrong-type", "too-deep",
                "wrong-count", "duplicate-key", "keys-out-of-order", "wrong-keys", "bad-text",
                "trailing-bytes", "items-left", "out-of-range", "inconsistent",
            ])
    }

    @Test func `tells the word and the place`() {
        #expect(Malformed(.depthExceeded, at: 17).description == "too-deep at byte 17")
        #expect(Malformed(.truncated, at: 1) != Malformed(.truncated, at: 2))
    }
}

/// Relations between limits that the code relies on.
struct `The limits fit together:` {
    @Test func `a fragment fits a frame, and a frame's length fits its prefix`() {
        let head = 3
        let tag = 16
        #expect(Limits.fragmentBytesMax + head + tag <= Limits.frameBytesMax)
        #expect(Limits.frameBytesMax == Int(UInt16.max))
        #expect(Limits.fragmentBytesMax <= Int(UInt16.max), "its own length has 16 bits too")
    }

    @Test func `a message is no larger than the one that carries operations`() {
        #expect(Limits.messageBytesMax <= Limits.operationsMessageBytesMax)
        #expect(Limits.fragmentBytesMax < Limits.messageBytesMax)
    }

    @Test func `the largest operation of each kind fits one message`() {
        let largest = max(Limits.payloadBytesMax, Limits.authPayloadBytesMax)
        let dependencies = Limits.authDependenciesMax * 84
        #expect(largest + dependencies + 512 <= Limits.operationsMessageBytesMax)
        #expect(Limits.payloadBytesMax <= Limits.authPayloadBytesMax)
    }

    @Test func `a header with all its dependencies fits`() {
        #expect(Limits.authDependenciesMax * 84 + 512 <= Limits.headerBytesMax)
        #expect(Limits.dependenciesMax <= Limits.authDependenciesMax)
    }

    @Test func `one signature vouches for at least one largest payload`() {
        #expect(Limits.payloadBytesMax <= Limits.runPayloadBytesMax)
        #expect(Limits.segmentLength > 1)
        let wholeSegment = Int(Limits.segmentLength) * 64
        #expect(wholeSegment <= Limits.operationsMessageBytesMax, "its signatures fit an answer")
    }

    @Test func `a text in the costliest escape fits a payload and a control line`() {
        let escaped = Limits.messageTextBytesMax * 6
        #expect(escaped < Limits.payloadBytesMax)
        #expect(escaped < Limits.controlLineBytesMax)
    }

    @Test func `a name that is written here is one that is valid everywhere`() {
        #expect(Limits.nameCharactersMax <= Limits.nameScalarsMax)
        #expect(Limits.nameScalarsMax <= Limits.nameBytesMax)
        #expect(Limits.combiningMarksInARowMax < Limits.nameScalarsMax)
    }

    @Test func `what one peer may leave waiting is part of what all may`() {
        #expect(Limits.waitingBytesPerPeerMax <= Limits.waitingBytesMax)
        #expect(Limits.operationsMessageBytesMax <= Limits.waitingBytesPerPeerMax)
        #expect(Limits.waitingPerPeerMax >= Int(Limits.segmentLength))
    }

    @Test func `answers to all outstanding pulls fit the send buffer, unasked pushes as well`() {
        let answers = Limits.pullsOutstandingMax * Limits.operationsMessageBytesMax
        #expect(answers <= Limits.unsentBytesMax)
        #expect(Limits.unaskedUnsentBytesMax < Limits.unsentBytesMax)
        #expect(Limits.sealedUnsentBytesMax < Limits.unaskedUnsentBytesMax)
        #expect(Limits.frameBytesMax <= Limits.sealedUnsentBytesMax, "one frame can be sealed")
    }

    @Test func `a peer is pinged twice before it counts as dead`() {
        #expect(2 * Limits.pingMilliseconds < Limits.deadMilliseconds)
        #expect(Limits.handshakeMilliseconds < Limits.stalledMilliseconds)
        #expect(Limits.stalledMilliseconds <= Limits.deadMilliseconds)
    }

    @Test func `one address cannot take all handshakes`() {
        #expect(Limits.halfOpenPerAddressMax * 2 <= Limits.knownHandshakesMax)
        #expect(Limits.knownHandshakesMax < Limits.anonymousLinksMax)
        #expect(UInt64(Limits.anonymousLinksMax) * 2 <= Limits.descriptorsWanted)
        let answers = UInt64(Limits.strangerAgreementsPerSecondMax) / 3
        let answered = answers * Limits.handshakeMilliseconds / 1_000
        #expect(answered > UInt64(Limits.knownHandshakesMax), "nobody in the pool waits in vain")
        #expect(Limits.dialsInFlightMax <= Limits.heardAddressesMax)
        #expect(Limits.addressesPerDeviceMax <= Limits.heardAddressesMax)
    }

    @Test func `a control connection may have a whole answer unsent, and a key fits a line`() {
        #expect(Limits.controlLineBytesMax < Limits.controlUnsentBytesMax)
        #expect(Limits.idempotencyKeyBytesMax < Limits.controlLineBytesMax)
        #expect(Limits.jsonDepthMax >= Limits.cborDepthMax)
    }

    @Test func `a clock can be led astray by less than an address record lives`() {
        #expect(Limits.clockLeadMillisecondsMax == 300_000)
        #expect(Limits.clockLeadMillisecondsMax < Limits.addressRecordMilliseconds)
    }
}
