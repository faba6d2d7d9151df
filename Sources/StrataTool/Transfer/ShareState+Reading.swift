import StrataModel

extension ShareState {
    /// Reads a state as an export of records has it; its number is 0.
    init(reading reader: inout JSONReader) throws {
        self.init(number: 0, root: nil, urlToken: "")
        try reader.readObject { key, reader in
            switch key {
            case "root": root = try reader.readString()
            case "token": urlToken = try reader.readString()
            case "publicPermission": publicPermission = try SharePermission(reading: &reader)
            case "accessRequests": allowsAccessRequests = try reader.readBool()
            case "participants": try reader.readArray { participants.append(try ShareParticipant(reading: &$0)) }
            case "requesters": try reader.readArray { requesters.append(try $0.readString()) }
            case "blocked": try reader.readArray { blockedUsers.append(try $0.readString()) }
            default: try reader.skip()
            }
        }
    }
}

extension ShareParticipant {
    fileprivate init(reading reader: inout JSONReader) throws {
        self.init(id: "")
        var (address, addressKind) = ("", "")
        try reader.readObject { key, reader in
            switch key {
            case "id": id = try reader.readString()
            case "user": user = try reader.readString()
            case "address": address = try reader.readString()
            case "addressKind": addressKind = try reader.readString()
            case "role":
                let name = try reader.readString()
                guard let role = ShareRole.allCases.first(where: { $0.name == name }) else {
                    throw reader.error("a known role")
                }
                self.role = role
            case "permission": permission = try SharePermission(reading: &reader)
            case "accepted": hasAccepted = try reader.readBool()
            case "askedForAccess": isApprovedRequester = try reader.readBool()
            case "oneTimeToken": oneTimeToken = try reader.readString()
            default: try reader.skip()
            }
        }
        switch addressKind {
        case "": break
        case "email": self.address = .email(address)
        case "phone": self.address = .phone(address)
        default: throw reader.error("an e-mail address or a phone number")
        }
    }
}

extension SharePermission {
    fileprivate init(reading reader: inout JSONReader) throws {
        let name = try reader.readString()
        guard let permission = Self.allCases.first(where: { $0.name == name }) else {
            throw reader.error("a known permission")
        }
        self = permission
    }
}
