import Testing
import WorkspaceModel

@testable import CRDTStore
@testable import PeerNode

/// What somebody may do with a private channel, or with a conversation, follows from one answer: the
/// roles that give power there.
struct `Powers in a private document` {
    private static let owner = MemberID(words: (1, 1))
    private static let admin = MemberID(words: (2, 2))
    private static let member = MemberID(words: (3, 3))
    private static let stranger = MemberID(words: (4, 4))

    private static func channel(_ kind: PrivateMembership.Kind) -> Workspace.Channel {
        let id = OperationID(words: (1, 2, 3, 4))
        let roles: [MemberID: Role] = [owner: .owner, admin: .admin, member: .member]
        return Workspace.Channel(
            id: DocumentID(sameBytesAs: id), publicID: "c_1", number: 1, createdAt: 0,
            rank: (1, id), rule: .closed(PrivateMembership(kind: kind, roles: roles)),
            isDefault: false)
    }

    @Test func `of a channel are those of its owner and its admins`() throws {
        let channel = Self.channel(.channel)
        #expect(try #require(channel.privateMembership).powers.count == 3)
        #expect(channel.owner == Self.owner && channel.admins == [Self.admin])
        #expect(!channel.isDirect && channel.people.isEmpty)
        let roles = [Self.owner, Self.admin, Self.member, Self.stranger].map(channel.role)
        #expect(roles == [.owner, .admin, .member, .member])
        // The role in the workspace gives nothing.
        for role in Role.allCases {
            #expect(channel.allows(.manage, to: Self.owner, of: role))
            #expect(channel.allows(.edit, to: Self.admin, of: role))
            #expect(!channel.allows(.manage, to: Self.admin, of: role))
            for other in [Self.member, Self.stranger] {
                #expect(!channel.allows(.edit, to: other, of: role))
            }
        }
    }

    @Test func `of a conversation are nobody's, whatever the roles in it`() throws {
        let conversation = Self.channel(.direct)
        #expect(try #require(conversation.privateMembership).powers.isEmpty)
        #expect(conversation.owner == nil && conversation.isDirect)
        #expect(conversation.people == [Self.owner, Self.admin, Self.member])
        for member in conversation.people {
            #expect(conversation.role(of: member) == .member)
            #expect(conversation.includes(member))
            for right in [ChannelRight.edit, .manage] {
                #expect(!conversation.allows(right, to: member, of: .owner))
            }
        }
        #expect(!conversation.includes(Self.stranger))
    }
}
