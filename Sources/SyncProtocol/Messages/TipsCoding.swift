import WorkspaceModel

/// The messages of a descent: digests, tips, and the pulls that follow.
extension CBOREncoder {
    mutating func documentDigests(_ workspace: WorkspaceNumber, _ buckets: [BucketDigests]) {
        map(count: 2)
        self.workspace(workspace)
        key(2)
        array(count: buckets.count)
        for bucket in buckets {
            array(count: 2)
            uint(UInt64(bucket.bucket))
            array(count: bucket.documents.count)
            for document in bucket.documents {
                array(count: 2)
                byteString(document.document)
                byteString(document.digest)
            }
        }
    }

    mutating func tips(_ workspace: WorkspaceNumber, _ tips: [LogTip], final: Bool) {
        map(count: 3)
        self.workspace(workspace)
        key(2)
        self.tips(tips)
        key(3)
        bool(final)
    }

    /// Tips; consecutive ones of one document are grouped under its name.
    mutating func tips(_ tips: [LogTip]) {
        var groups: [Range<Int>] = []
        var start = 0
        for index in tips.indices where tips[index].log.document != tips[start].log.document {
            groups.append(start..<index)
            start = index
        }
        if start < tips.count { groups.append(start..<tips.count) }
        array(count: groups.count)
        for group in groups {
            array(count: 2)
            byteString(tips[group.lowerBound].log.document)
            array(count: group.count)
            for index in group { tip(tips[index]) }
        }
    }

    private mutating func tip(_ tip: LogTip) {
        array(count: 4)
        byteString(tip.log.device)
        uint(UInt64(tip.log.incarnation))
        uint(tip.sequence)
        byteString(tip.id)
    }

    mutating func forkProbe(_ workspace: WorkspaceNumber, _ tip: LogTip) {
        map(count: 6)
        self.workspace(workspace)
        key(2)
        byteString(tip.log.document)
        key(3)
        byteString(tip.log.device)
        key(4)
        uint(UInt64(tip.log.incarnation))
        key(5)
        uint(tip.sequence)
        key(6)
        byteString(tip.id)
    }
}

extension PullRequest {
    func encode(_ workspace: WorkspaceNumber, to body: inout CBOREncoder) {
        body.map(count: 4)
        body.workspace(workspace)
        body.key(2)
        body.uint(UInt64(request))
        body.key(3)
        body.array(count: items.count)
        for item in items {
            body.array(count: 6)
            body.byteString(item.target.log.document)
            body.byteString(item.target.log.device)
            body.uint(UInt64(item.target.log.incarnation))
            body.uint(item.target.sequence)
            body.byteString(item.target.id)
            body.array(count: item.have.count)
            for point in item.have {
                body.array(count: 2)
                body.uint(point.sequence)
                body.byteString(point.id)
            }
        }
        body.key(4)
        body.int(maxBytes)
    }
}

extension SyncMessage {
    /// Bytes of a workspace digest: half a hash for each first byte of a document's name.
    static let workspaceDigestBytes = 256 * 16

    static func workspaceDigest(from body: inout CBORDecoder) throws(Malformed) -> Self {
        try body.mapCount(exactly: 2)
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        return .workspaceDigest(
            workspace, buckets: try body.byteString(exactly: workspaceDigestBytes))
    }

    static func documentDigests(from body: inout CBORDecoder) throws(Malformed) -> Self {
        try body.mapCount(exactly: 2)
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        var buckets: [BucketDigests] = []
        for _ in 0..<(try body.arrayCount(max: 256)) {
            let start = body.position
            let bucket = try body.bucketDigests()
            if let last = buckets.last, last.bucket >= bucket.bucket {
                throw Malformed(.inconsistent, at: start)
            }
            buckets.append(bucket)
        }
        return .documentDigests(workspace, buckets)
    }

    static func tips(from body: inout CBORDecoder) throws(Malformed) -> Self {
        try body.mapCount(exactly: 3)
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        let tips = try body.tips()
        try body.key(exactly: 3)
        return .tips(workspace, tips, final: try body.bool())
    }

    static func forkProbe(from body: inout CBORDecoder) throws(Malformed) -> Self {
        try body.mapCount(exactly: 6)
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        let document: DocumentID = try body.identifier32()
        try body.key(exactly: 3)
        let device: DeviceID = try body.identifier32()
        try body.key(exactly: 4)
        let incarnation = try body.uint(as: UInt32.self)
        let log = LogName(document: document, device: device, incarnation: incarnation)
        try body.key(exactly: 5)
        let sequence = try body.uint()
        try body.key(exactly: 6)
        return .forkProbe(
            workspace, LogTip(log: log, sequence: sequence, id: try body.identifier16()))
    }

    static func pull(from body: inout CBORDecoder) throws(Malformed) -> Self {
        try body.mapCount(exactly: 4)
        let workspace = try body.workspace()
        try body.key(exactly: 2)
        let start = body.position
        let request = try body.uint(as: RequestNumber.self)
        guard request != 0 else { throw Malformed(.outOfRange, at: start) }
        try body.key(exactly: 3)
        var items: [PullItem] = []
        for _ in 0..<(try body.arrayCount(max: pullItemsMax)) {
            items.append(try body.pullItem())
        }
        try body.key(exactly: 4)
        let maxBytes = try body.int(max: Limits.operationsMessageBytesMax)
        return .pull(workspace, PullRequest(request: request, items: items, maxBytes: maxBytes))
    }
}

extension CBORDecoder {
    mutating func tips() throws(Malformed) -> [LogTip] {
        var tips: [LogTip] = []
        for _ in 0..<(try arrayCount()) {
            try arrayCount(exactly: 2)
            let start = position
            let document: DocumentID = try identifier32()
            // One encoding: a document's tips are in one group.
            guard tips.last?.log.document != document else {
                throw Malformed(.inconsistent, at: start)
            }
            let countStart = position
            let count = try arrayCount()
            guard count > 0 else { throw Malformed(.countExceeded, at: countStart) }
            for _ in 0..<count { tips.append(try tip(of: document)) }
        }
        return tips
    }

    private mutating func tip(of document: DocumentID) throws(Malformed) -> LogTip {
        try arrayCount(exactly: 4)
        let device: DeviceID = try identifier32()
        let incarnation = try uint(as: UInt32.self)
        let sequence = try uint()
        let log = LogName(document: document, device: device, incarnation: incarnation)
        return LogTip(log: log, sequence: sequence, id: try identifier16())
    }

    fileprivate mutating func bucketDigests() throws(Malformed) -> BucketDigests {
        try arrayCount(exactly: 2)
        let bucket = try uint(as: UInt8.self)
        var documents: [DocumentDigest] = []
        for _ in 0..<(try arrayCount()) {
            try arrayCount(exactly: 2)
            let start = position
            let document: DocumentID = try identifier32()
            let isAscending = documents.last.map { $0.document < document } ?? true
            guard isAscending, UInt8(document.leadingWord >> 56) == bucket else {
                throw Malformed(.inconsistent, at: start)
            }
            documents.append(DocumentDigest(document: document, digest: try identifier16()))
        }
        return BucketDigests(bucket: bucket, documents: documents)
    }

    fileprivate mutating func pullItem() throws(Malformed) -> PullItem {
        try arrayCount(exactly: 6)
        let document: DocumentID = try identifier32()
        let device: DeviceID = try identifier32()
        let incarnation = try uint(as: UInt32.self)
        let log = LogName(document: document, device: device, incarnation: incarnation)
        let sequence = try uint()
        let target = LogTip(log: log, sequence: sequence, id: try identifier16())
        var have: [LogPoint] = []
        for _ in 0..<(try arrayCount(max: SyncMessage.pullPointsMax)) {
            try arrayCount(exactly: 2)
            let sequence = try uint()
            have.append(LogPoint(sequence: sequence, id: try identifier16()))
        }
        return PullItem(target: target, have: have)
    }
}
