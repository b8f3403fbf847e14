public import WorkspaceModel

/// A message and the device that receives it.
public struct MailboxDelivery: Sendable {
    /// The receiving device's bound box key.
    public let recipient: AgreementPublicKey
    /// The message.
    public let message: MailboxMessage

    /// `message` for the holder of `recipient`.
    public init(_ message: MailboxMessage, to recipient: AgreementPublicKey) {
        self.message = message
        self.recipient = recipient
    }
}

extension MailboxPayload {
    /// The deliveries grouped into operations of at most 256, without two for one device in a
    /// group: a device finds its box by the tag, and a box's key is used once. Keeps the given
    /// order as far as that allows.
    public static func batches(of deliveries: [MailboxDelivery]) -> [[MailboxDelivery]] {
        let largest = boxCounts.last ?? 1
        var batches: [[MailboxDelivery]] = []
        // Keyed by the canonical point: two encodings of one point have the same secret, and so the
        // same tag.
        var firstFree: [AgreementPublicKey: Int] = [:]
        var firstOpen = 0
        for delivery in deliveries {
            let point = delivery.recipient.canonical
            var batch = max(firstFree[point] ?? 0, firstOpen)
            while batch < batches.count, batches[batch].count == largest { batch += 1 }
            while firstOpen < batches.count, batches[firstOpen].count == largest { firstOpen += 1 }
            if batch == batches.count { batches.append([]) }
            batches[batch].append(delivery)
            firstFree[point] = batch + 1
        }
        return batches
    }

    /// One batch, sealed for the place of its operation and padded with random boxes. A device
    /// whose box key is of low order gets none.
    ///
    /// - Parameters:
    ///   - batch: one of `batches`.
    ///   - own: the sending device's box key.
    /// - Precondition: `batch` is not longer than 256, and names no device twice.
    public static func sealing(
        _ batch: [MailboxDelivery], from own: AgreementKey, at place: MailboxPlace,
        using random: any RandomSource
    ) -> MailboxPayload {
        precondition(
            Set(batch.map(\.recipient.canonical)).count == batch.count, "two boxes for one device")
        guard let count = boxCounts.first(where: { $0 >= batch.count }) else {
            preconditionFailure("a batch of \(batch.count)")
        }
        let secrets = batch.map { try? MailboxSecret(own: own, other: $0.recipient) }
        // Two equal tags of 8 random bytes practically never occur; the next nonce changes them.
        for _ in 0..<8 {
            let nonce = random.bytes(nonceByteCount)
            var boxes = zip(batch, secrets).compactMap { delivery, secret in
                secret?.seal(delivery.message, nonce: nonce, at: place)
            }
            while boxes.count < count {
                boxes.append(
                    Box(tag: random.bytes(tagByteCount), sealed: random.bytes(boxByteCount)))
            }
            if let payload = MailboxPayload(nonce: nonce, boxes: boxes) { return payload }
        }
        preconditionFailure("no chance makes equal tags eight times")
    }
}
