extension Manual {
    /// What a coin is, in ten lines.
    static let coins = """
        A coin is one member's word. That member, the issuer, keeps a ledger in a
        workspace, and says there who got how many coins. What they are worth is
        between you and the issuer; nobody can force anyone to pay or to accept them.
        Issuer:  wsx-node ledger open coins
                 wsx-node store offer small 'Small pack' --coins 100 --price '5 EUR'
        Buyer:   wsx-node store buy small, pay outside, then
                 wsx-node store validate p_01hx9t4c --receipt - < receipt.txt
        A command of the issuer's checks the receipt ('store verify-command'), or the
        issuer runs 'store grant' ('events --type order.created' tells of orders). Of
        two devices that spend one coin while apart, one has spent it everywhere.

        """
}
