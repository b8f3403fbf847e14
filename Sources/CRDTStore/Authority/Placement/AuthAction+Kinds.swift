/// What an action is, independent of its author and its verdict.
extension AuthAction {
    /// Whether it lets a member in by an invite.
    var isAdmission: Bool { if case .admit = self { true } else { false } }

    /// Whether it gives its author another device.
    var isAddition: Bool { if case .addDevices = self { true } else { false } }

    /// Whether it confirms something.
    var isConfirmation: Bool { if case .confirm = self { true } else { false } }

    /// Whether its author leaves.
    var isDeparture: Bool { if case .leave = self { true } else { false } }

    /// Whether it says who may invite.
    var isInvitePolicy: Bool { if case .setWorkspace(.some) = self { true } else { false } }

    /// Whether it can take validity from other operations.
    var isRevocation: Bool {
        switch self {
        case .remove, .removeDevice, .revokeInvite, .leave: true
        case .grant(let grant): grant.replaces || grant.drops != nil
        default: false
        }
    }

    /// Whether it may end a membership, or anything that somebody has by one.
    var endsSomething: Bool {
        switch self {
        case .revokeInvite: true
        case .grant(let grant): grant.replaces
        default: endsMembership
        }
    }

    /// Whether it ends the membership of a member or a device.
    var endsMembership: Bool {
        switch self {
        case .remove, .removeDevice, .leave: true
        default: false
        }
    }

    /// Whether it makes or changes a document, so that it may wait for operations that let people
    /// in.
    var isAboutDocument: Bool {
        switch self {
        case .createDocument, .setDocument, .deleteDocument: true
        default: false
        }
    }

    /// Whether others build on it: it admits or removes, gives or takes a role, or creates
    /// something for everybody.
    fileprivate var isForOthers: Bool {
        switch self {
        case .invite, .admit, .revokeInvite, .remove, .removeDevice, .recut, .createDocument,
            .setDocument, .deleteDocument, .setWorkspace, .rekey, .confirm:
            true
        case .grant(let grant): grant.drops == nil
        default: false
        }
    }
}

extension AuthOperation {
    /// Whether a confirmation keeps it in effect when its author gives up the device that wrote it.
    var canBeKept: Bool { action.isForOthers && !isOwnEnd }

    /// Whether a confirmation may name it: it is for others, or an own end.
    var canBeConfirmed: Bool { canBeKept || isOwnEnd }
}
