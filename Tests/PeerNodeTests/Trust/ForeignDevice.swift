import CRDTStore
import SyncProtocol
import Testing
import WorkspaceCrypto
import WorkspaceModel
import WorkspaceTestKit

@testable import PeerNode

/// An attacker's device: its keys sign anything for a test.
struct ForeignDevice {
    let signing: SigningKey
    let box: AgreementKey
    /// What it shows in handshakes.
    let identity: LocalIdentity

    /// A device that is in no workspace.
    init(_ seed: UInt64) {
        let random = SeededRandom(seed: seed)
        signing = SigningKey(using: random)
        box = AgreementKey(using: random)
        identity = LocalIdentity(
            certifiedBy: signing, staticKey: AgreementKey(using: random),
            store: StoreID(random.bytes(16)))
    }

    /// The keys of a node, held by a test.
    init(of node: BenchNode) throws {
        let core = try #require(node.host?.core)
        let home = try #require(core.session.home)
        signing = home.signing
        box = home.box
        identity = try #require(core.links.localIdentity)
    }

    var id: DeviceID { signing.device }

    /// The member whose first device it would be.
    func member(in workspace: WorkspaceID) -> MemberID {
        HomeIdentity.member(of: id, salt: workspace.bytes)
    }
}

/// One place in a list of devices.
enum ListedDevice {
    /// As it is signed in an operation.
    case copied(DeviceEntry)
    /// A device of the attacker's, which signs the list.
    case own(ForeignDevice)

    /// Every order of one to three of some entries and an own device.
    static func orders(of entries: [DeviceEntry], and own: ForeignDevice) -> [[ListedDevice]] {
        let all = entries.map(ListedDevice.copied) + [.own(own)]
        var orders: [[Int]] = [[]]
        var found: [[Int]] = []
        for _ in 0..<min(3, all.count) {
            orders = orders.flatMap { order in
                all.indices.filter { !order.contains($0) }.map { order + [$0] }
            }
            found += orders
        }
        return found.map { $0.map { all[$0] } }
    }

    fileprivate var unsigned: DeviceEntry {
        switch self {
        case .copied(let entry): entry
        case .own(let device):
            DeviceEntry(
                device: device.id, agreementKey: device.box.publicKey.bytes, signature: .zero)
        }
    }
}

extension [ListedDevice] {
    /// The list with own signatures wherever the keys are known; an own device that precedes
    /// another one signs as its recovery device.
    func signed(entering consent: DeviceConsent, mayRecover: Bool = true) -> [DeviceEntry] {
        let keys = map(\.unsigned)
        return enumerated().map { place, listed in
            guard case .own(let device) = listed else { return keys[place] }
            let message =
                mayRecover && place == 0 && keys.count > 1
                ? Binding.recoveryCertificate(
                    agreementKey: keys[0].agreementKey, of: keys[1].device)
                : consent.message(for: keys)
            return DeviceEntry(
                device: keys[place].device, agreementKey: keys[place].agreementKey,
                signature: device.signing.signature(for: message))
        }
    }
}

/// The link of an invite held by an attacker: it proves any list.
struct HeldLink {
    let link: InviteLink
    let invite: OperationID
    private let workspace: WorkspaceID

    /// - Parameter node: one that knows the invite.
    init(_ text: String, known node: BenchNode) throws {
        link = try InviteLink(text)
        let workspace = try node.workspace()
        self.workspace = workspace.id
        let key = link.secret.publicKey.bytes
        invite = try #require(
            workspace.authorityOrder.last {
                guard case .invite(let invite)? = workspace.authority[$0]?.payload else {
                    return false
                }
                return invite.publicKey == key
            })
    }

    /// What a member consents to who enters by it before a device that answers.
    func consent(of member: MemberID, before answerer: DeviceID) -> DeviceConsent {
        .joining(workspace, by: invite, before: answerer, member: member)
    }

    /// `join2` of a list.
    func request(
        _ member: MemberID, _ devices: [DeviceEntry], answering: OperationID? = nil
    ) -> JoinRequest {
        JoinRequest(
            invite: invite, member: member, devices: DeviceEntry.encoded(devices),
            proof: proof(of: member, devices), name: "Mallory", answering: answering)
    }

    /// The fields of a request or an admission with a list. Nobody can open the name.
    func joiner(
        _ member: MemberID, _ devices: [DeviceEntry], answering: OperationID? = nil
    ) -> AuthorityPayload.Joiner {
        .init(
            invite: invite, member: member, devices: devices, proof: proof(of: member, devices),
            name: SealedField(
                keyID: .zero, nonce: [UInt8](repeating: 1, count: 24),
                ciphertext: [UInt8](repeating: 2, count: 48)), answering: answering)
    }

    private func proof(of member: MemberID, _ devices: [DeviceEntry]) -> Signature {
        link.secret.admissionProof(
            workspace: workspace, invite: invite, member: member,
            encodedDevices: DeviceEntry.encoded(devices))
    }
}

extension Workspace {
    /// The devices with which a member came in, which everybody may copy.
    func entries(of member: MemberID) throws -> [DeviceEntry] {
        for id in authorityOrder {
            switch authority[id]?.payload {
            case .create(let create) where create.member == member: return create.devices
            case .admit(let joiner, _, _, _) where joiner.member == member: return joiner.devices
            default: continue
            }
        }
        return try #require(nil, "a member who was never let in")
    }
}
