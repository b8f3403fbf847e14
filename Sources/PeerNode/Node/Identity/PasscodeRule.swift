public import WorkspaceModel

/// What a passcode has to be.
public enum PasscodeRule {
    /// The problem, as a word of `data.fields`, or `nil`.
    public static func problem(of text: String) -> String? {
        let isGood =
            text.utf8.count == LockState.passcodeDigits
            && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isGood ? nil : "form"
    }

    /// The rule, for a person who is about to type one.
    public static let rule = "a passcode has four digits"
}

extension NodeError {
    /// A second passcode.
    public static var passcodeExists: Self {
        Self(
            .duplicate, "there is already a passcode", hint: "wsx-node passcode change",
            reason: "passcode.exists")
    }

    /// A passcode for keys that anybody can read.
    public static var passcodeNeedsPassphrase: Self {
        forbidden(
            "a passcode needs a passphrase: your keys have none",
            reason: "passcode.no_passphrase", hint: "wsx-node passphrase change")
    }

    /// No passcode, where one is changed, removed or typed.
    public static var noPasscode: Self {
        Self(
            .notFound, "there is no passcode", hint: "wsx-node passcode set",
            reason: "passcode.not_found")
    }
}
