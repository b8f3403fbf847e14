import CRDTStore
import WorkspaceCrypto
import WorkspaceModel

/// The operations that carry the cuts that do not fit into one removal: those right before it in
/// its log.
enum CutParts {
    /// H("wsx-cutparts1", the ids in the order of the log), 32 bytes; empty for none.
    static func hash(of parts: [OperationID]) -> [UInt8] {
        guard !parts.isEmpty else { return [] }
        return Hash.personal("wsx-cutparts1", parts.flatMap(\.bytes))
    }

    /// `cuts` in pieces that fit into one operation each; one empty piece for none.
    static func split(_ cuts: [CutEntry]) -> [[CutEntry]] {
        guard !cuts.isEmpty else { return [[]] }
        return stride(from: 0, to: cuts.count, by: Limits.cutsPerOperationMax).map { start in
            Array(cuts[start..<min(start + Limits.cutsPerOperationMax, cuts.count)])
        }
    }

    /// Everything that the operation keeps of what it revokes, parts included.
    ///
    /// - Parameter previous: the operation before it in its log.
    /// - Returns: `nil` where the parts are not those that it names: then it is void.
    static func cuts(
        of payload: AuthorityPayload, behind previous: OperationID?, in workspace: Workspace
    ) -> [CutEntry]? {
        guard case .remove(let remove) = payload, remove.cutPartCount > 0 else {
            return payload.cuts
        }
        guard remove.cutPartCount <= UInt64(Limits.cutPartsMax) else { return nil }
        var parts: [OperationID] = []
        var cuts: [CutEntry] = []
        var next = previous
        while UInt64(parts.count) < remove.cutPartCount {
            guard let id = next, case .cutPart(let part)? = workspace.authority[id]?.payload else {
                return nil
            }
            parts.append(id)
            cuts += part
            next = workspace.judged.evaluator.operation(id)?.previous
        }
        guard hash(of: parts.reversed()) == remove.cutPartHash else { return nil }
        return cuts + remove.cuts
    }
}
