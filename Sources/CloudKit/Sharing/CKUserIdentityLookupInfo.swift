import Foundation
import StrataModel

/// The address that a user is looked up by: `CKUserIdentity.LookupInfo`. Compared by its values.
///
/// ```swift
/// let infos = CKUserIdentity.LookupInfo.lookupInfos(withEmails: ["anna@example.com"])
/// ```
// @unchecked: its properties are constants.
public final class CKUserIdentityLookupInfo: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    /// The e-mail address; nil for a lookup by something else.
    public let emailAddress: String?
    /// The phone number; nil for a lookup by something else.
    public let phoneNumber: String?
    /// The ID of the user's own record; nil for a lookup by something else.
    public let userRecordID: CKRecord.ID?

    fileprivate init(email: String?, phone: String?, recordID: CKRecord.ID?) {
        (emailAddress, phoneNumber, userRecordID) = (email, phone, recordID)
        super.init()
    }

    /// Looks up the user with an e-mail address, whatever its case.
    public convenience init(emailAddress: String) { self.init(email: emailAddress, phone: nil, recordID: nil) }

    /// Looks up the user with a phone number, of which only the digits count.
    public convenience init(phoneNumber: String) { self.init(email: nil, phone: phoneNumber, recordID: nil) }

    /// Looks up the user with a record ID, as ``CKContainer/userRecordID()`` returns it.
    public convenience init(userRecordID: CKRecord.ID) { self.init(email: nil, phone: nil, recordID: userRecordID) }

    /// Returns a lookup for each e-mail address.
    public class func lookupInfos(withEmails emails: [String]) -> [CKUserIdentityLookupInfo] {
        emails.map { CKUserIdentityLookupInfo(emailAddress: $0) }
    }

    /// Returns a lookup for each phone number.
    public class func lookupInfos(withPhoneNumbers phoneNumbers: [String]) -> [CKUserIdentityLookupInfo] {
        phoneNumbers.map { CKUserIdentityLookupInfo(phoneNumber: $0) }
    }

    /// Returns a lookup for each record ID.
    public class func lookupInfos(with recordIDs: [CKRecord.ID]) -> [CKUserIdentityLookupInfo] {
        recordIDs.map { CKUserIdentityLookupInfo(userRecordID: $0) }
    }

    /// Returns the address to look up.
    ///
    /// - Parameter me: The record name of the current user, whom `__defaultOwner__` also stands for.
    func address(for me: String) -> UserAddress {
        if let emailAddress { return UserAddress(.email, emailAddress) }
        if let phoneNumber { return UserAddress(.phone, phoneNumber) }
        let name = userRecordID?.recordName ?? ""
        return UserAddress(.recordName, name == CKCurrentUserDefaultName ? me : name)
    }

    private var texts: [String?] { [emailAddress, phoneNumber] }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKUserIdentityLookupInfo else { return false }
        return texts.map { $0.map(ExactName.init(text:)) } == other.texts.map { $0.map(ExactName.init(text:)) }
            && userRecordID == other.userRecordID
    }

    public override var hash: Int {
        var hasher = Hasher()
        for text in texts { hasher.combine(text.map(ExactName.init(text:))) }
        hasher.combine(userRecordID)
        return hasher.finalize()
    }

    public override var description: String {
        "<CKUserIdentityLookupInfo: \(emailAddress ?? phoneNumber ?? userRecordID?.recordName ?? "nothing")>"
    }

    // MARK: NSSecureCoding, NSCopying

    private static let block = "CKUserIdentityLookupInfo"

    public func encode(with coder: NSCoder) { ArchiveBlock.write(Self.block, to: coder) { $0.append(self) } }

    /// Decodes what ``encode(with:)`` encoded, also on Apple's platforms; nil if the archive is damaged.
    public convenience init?(coder: NSCoder) {
        if let read = ArchiveBlock.read(Self.block, from: coder, { try $0.readLookupInfo() }) {
            self.init(email: read.emailAddress, phone: read.phoneNumber, recordID: read.userRecordID)
        } else {
            let archive = ArchiveReader(coder)
            guard archive.contains("EmailAddress") || archive.contains("PhoneNumber") else { return nil }
            self.init(
                email: archive.string("EmailAddress"), phone: archive.string("PhoneNumber"),
                recordID: archive.object(CKRecordID.self, "RecordID"))
            guard archive.isIntact else { return nil }
        }
    }
}

extension ByteWriter {
    mutating func append(_ info: CKUserIdentityLookupInfo) {
        append(optional: info.emailAddress) { $1.appendString($0) }
        append(optional: info.phoneNumber) { $1.appendString($0) }
        append(optional: info.userRecordID) { $1.append($0) }
    }
}

extension ByteReader {
    mutating func readLookupInfo() throws -> CKUserIdentityLookupInfo {
        let email = try readOptional { try $0.readText("an e-mail address") }
        let phone = try readOptional { try $0.readText("a phone number") }
        return CKUserIdentityLookupInfo(
            email: email, phone: phone, recordID: try readOptional { try $0.readRecordID() })
    }
}
