import StrataModel

extension ShareState: Shaped {
    static let shape = Shape<Self>("The state of a share", "Its participants and permissions.") {
        Key("root", "name of the root record", if: "unless the whole zone is shared") { $0.root }
        Key("token", "the token of its URL") { $0.urlToken }
        Key("publicPermission", "`none`, `read only` or `read and write`") { $0.publicPermission.name }
        Key("accessRequests", "true if users may ask for access") { $0.allowsAccessRequests }
        Key("participants", "the owner first", each: ShareParticipant.shape) { $0.participants }
        Key("requesters", "names of the users who ask for access") { $0.requesters }
        Key("blocked", "names of the users who may not ask") { $0.blockedUsers }
    }

    /// Returns the state that a field's value encodes; nil if it does not.
    init?(_ value: FieldValue?) {
        guard case .data(let bytes)? = value, let state = try? ShareState(decoding: bytes[...]) else { return nil }
        self = state
    }
}

extension ShareParticipant: Shaped {
    static let shape = Shape<Self>("A participant in the state of a share") {
        Key("id", "identifies the participant in the share") { $0.id }
        Key("user", "name of the user", if: "if it is known") { $0.user.nonempty }
        Key("address", "the e-mail address or phone number of the invitation", if: "if it has one") {
            $0.address?.text
        }
        Key("addressKind", "`email` or `phone`", if: "with an address") {
            switch $0.address {
            case .email: "email"
            case .phone: "phone"
            case nil: nil as String?
            }
        }
        Key("role", "`owner`, `administrator`, `private user` or `public user`") { $0.role.name }
        Key("permission", "`none`, `read only` or `read and write`") { $0.permission.name }
        Key("accepted", "true if the user has accepted") { $0.hasAccepted }
        Key("added", "when the participant was added") { $0.added }
        Key("askedForAccess", "true: the user had asked for access before", if: "if so") {
            $0.isApprovedRequester ? true : nil
        }
        Key("oneTimeToken", "the token of the URL that only this participant can use", if: "if there is one") {
            $0.oneTimeToken.nonempty
        }
    }
}

extension ShareParticipant.Address {
    var text: String {
        switch self {
        case .email(let text), .phone(let text): text
        }
    }
}
