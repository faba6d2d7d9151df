extension ShareState {
    /// Returns the state as a reader gets it (B337): everybody sees those who have accepted, and themselves. The owner
    /// and administrators also see invitations, addresses, and who asks for access or may not.
    ///
    /// - Parameter user: the name of the reader.
    package func filtered(for user: String) -> ShareState {
        let own = participant(ofUser: user)
        if own?.role == .owner || own?.role == .administrator && own?.hasAccepted == true { return self }
        var state = self
        state.requesters = []
        state.blockedUsers = []
        state.participants = participants.compactMap { participant in
            if participant == own { return participant }
            guard participant.hasAccepted || participant.role == .owner else { return nil }
            var visible = participant
            visible.address = nil
            visible.oneTimeToken = ""
            return visible
        }
        return state
    }

    /// Returns the participant that a user is or may become (B344): by their name, by the one-time URL that they have,
    /// or by an address to which an invitation was sent; nil if the share says nothing of the user.
    ///
    /// - Parameter oneTimeID: the participant whose one-time URL the user has; empty for none.
    package func participant(
        ofUser user: String, addresses: [UserAddress], oneTimeID: String
    ) -> ShareParticipant? {
        if let known = participant(ofUser: user) { return known }
        let open = participants.filter { $0.user.isEmpty && !$0.hasAccepted }
        return open.first { !oneTimeID.isEmpty && isSameText($0.id, oneTimeID) }
            ?? open.first { $0.address.map { addresses.contains($0.compared) } ?? false }
    }
}

extension ShareParticipant.Address {
    /// The address in the form in which addresses are compared.
    package var compared: UserAddress {
        switch self {
        case .email(let text): UserAddress(.email, text)
        case .phone(let text): UserAddress(.phone, text)
        }
    }
}
