import CRDTStore
import Testing
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode
@testable import WorkspaceCrypto

/// The secrets of a scene with private documents: their epoch keys, and the devices' box keys.
struct FrozenSecrets {
    /// Epoch keys by document.
    private(set) var keys: [DocumentID: [KeyID: SymmetricKey]] = [:]
    private var boxes: [DeviceID: AgreementKey] = [:]

    init() {}

    /// The secrets that a scene of the file tells.
    init(of scene: FrozenScene) throws {
        func bytes(_ hex: String) throws -> [UInt8] { try #require(Vectors.bytes(hex: hex)) }
        for entry in scene.documentKeys ?? [] {
            let document = DocumentID(try bytes(entry.document))
            let key = SymmetricKey(try bytes(entry.key))
            #expect(key.keyID.bytes.hex == entry.id)
            keys[document, default: [:]][key.keyID] = key
        }
        for entry in scene.boxKeys ?? [] {
            boxes[DeviceID(try bytes(entry.device))] = AgreementKey(
                secret: try bytes(entry.secret))
        }
    }

    /// What one node holds. Scenes without private documents record nothing of it.
    mutating func take(from core: NodeCore, _ workspace: Workspace) {
        for (id, document) in workspace.sealed.documents {
            for key in document.keys.opened {
                keys[id, default: [:]][key.keyID] = SymmetricKey(key.exposedCopy())
            }
        }
        if let home = core.session.home { boxes[home.device] = home.box }
    }

    var documentKeys: [FrozenScene.DocumentKey]? {
        guard !keys.isEmpty else { return nil }
        return keys.sorted { $0.key < $1.key }.flatMap { document, keys in
            keys.sorted { $0.key < $1.key }.map { id, key in
                .init(
                    document: document.bytes.hex, id: id.bytes.hex, key: key.exposedCopy().hex)
            }
        }
    }

    var boxKeys: [FrozenScene.BoxKey]? {
        guard !keys.isEmpty else { return nil }
        return boxes.sorted { $0.key < $1.key }.map {
            .init(device: $0.key.bytes.hex, secret: $0.value.exposedSecret().hex)
        }
    }

    /// What an operation of a private document seals; `nil` where its key is not held or does not
    /// open it.
    func plaintext(of operation: SignedOperation) -> [UInt8]? {
        let header = operation.header
        guard let key = header.keyID.flatMap({ keys[operation.document]?[$0] }) else { return nil }
        guard header.kind == OperationKind.privateAuthority.rawValue else {
            return SealedPayload.open(
                operation.payload, under: key.documentKey(for: header.document),
                associatedData: header.associatedData)
        }
        guard let payload = try? PrivatePayload(decoding: operation.payload) else { return nil }
        let authority = PrivateAuthorityKey(of: key)
        let sealing =
            payload.clear.map { authority.sealingKey(forRootWith: $0.nonce) }
            ?? authority.sealingKey(for: header.document)
        return SealedPayload.open(
            payload.sealed, under: sealing, associatedData: header.associatedData)
    }

    /// What a mailbox operation says to the devices whose secrets are known; `nil` for other kinds.
    func mail(in operation: SignedOperation) -> [FrozenScene.Mail]? {
        let header = operation.header
        guard !keys.isEmpty, header.kind == OperationKind.mailbox.rawValue,
            let payload = try? MailboxPayload(decoding: operation.payload),
            let sender = boxes[header.device]
        else { return nil }
        return boxes.sorted { $0.key < $1.key }.compactMap { device, own in
            guard device != header.device,
                let secret = try? MailboxSecret(own: own, other: sender.publicKey),
                let message = secret.open(payload, at: MailboxPlace(of: header))
            else { return nil }
            let padded = message.padded
            let end = padded.lastIndex { $0 != 0 } ?? 0
            return .init(device: device.bytes.hex, message: Array(padded[..<end]).hex)
        }
    }
}
