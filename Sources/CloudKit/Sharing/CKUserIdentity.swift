import Foundation
import StrataModel

/// A user as others see them: the name, and the ID of the user's own record. Compared by its values.
// @unchecked: its properties are constants.
public final class CKUserIdentity: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    public typealias LookupInfo = CKUserIdentityLookupInfo

    /// The address that the user was looked up by.
    public let lookupInfo: LookupInfo?
    /// The name, which comes from the account and never from the user's own record (B390); nil if it is not known.
    public let nameComponents: PersonNameComponents?
    /// The ID of the user's own record; nil for an address without an account.
    public let userRecordID: CKRecord.ID?
    /// False for an address that no user has.
    public let hasiCloudAccount: Bool

    /// Empty, since there are no contacts here.
    @available(*, deprecated, message: "There are no contacts here.")
    public var contactIdentifiers: [String] { [] }

    init(
        lookupInfo: LookupInfo?, nameComponents: PersonNameComponents?, userRecordID: CKRecord.ID?,
        hasiCloudAccount: Bool
    ) {
        self.lookupInfo = lookupInfo
        self.nameComponents = nameComponents
        self.userRecordID = userRecordID
        self.hasiCloudAccount = hasiCloudAccount
        super.init()
    }

    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CKUserIdentity else { return false }
        return lookupInfo == other.lookupInfo && nameComponents == other.nameComponents
            && userRecordID == other.userRecordID && hasiCloudAccount == other.hasiCloudAccount
    }

    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(lookupInfo)
        hasher.combine(userRecordID)
        hasher.combine(hasiCloudAccount)
        return hasher.finalize()
    }

    public override var description: String {
        let name = nameComponents.map { Person($0).fullName } ?? ""
        return "<CKUserIdentity: \(name.isEmpty ? "no name" : name), \(userRecordID?.recordName ?? "no account")>"
    }

    // MARK: NSSecureCoding, NSCopying

    private static let block = "CKUserIdentity"

    public func encode(with coder: NSCoder) { ArchiveBlock.write(Self.block, to: coder) { $0.append(self) } }

    /// Decodes what ``encode(with:)`` encoded, also on Apple's platforms; nil if the archive is damaged.
    public convenience init?(coder: NSCoder) {
        if let read = ArchiveBlock.read(Self.block, from: coder, { try $0.readUserIdentity() }) {
            self.init(
                lookupInfo: read.lookupInfo, nameComponents: read.nameComponents, userRecordID: read.userRecordID,
                hasiCloudAccount: read.hasiCloudAccount)
        } else {
            self.init(ArchiveReader(coder))
        }
    }

    /// Reads an identity in an archive from Apple's platforms; nil if the archive has none, or a damaged one.
    private convenience init?(_ archive: ArchiveReader) {
        guard archive.contains("UserRecordID") else { return nil }
        let userRecordID = archive.object(CKRecordID.self, "UserRecordID")
        self.init(
            lookupInfo: archive.object(LookupInfo.self, "LookupInfo"),
            nameComponents: PersonNameComponents(archive, "NameComponents"), userRecordID: userRecordID,
            hasiCloudAccount: archive.bool("HasICloudAccount") ?? (userRecordID != nil))
        guard archive.isIntact else { return nil }
    }
}

extension ByteWriter {
    mutating func append(_ identity: CKUserIdentity) {
        append(optional: identity.lookupInfo) { $1.append($0) }
        append(optional: identity.nameComponents) { components, writer in
            for part in Person(components).nameParts { writer.appendString(part) }
        }
        append(optional: identity.userRecordID) { $1.append($0) }
        append(identity.hasiCloudAccount ? 1 : 0 as UInt8)
    }
}

extension ByteReader {
    mutating func readUserIdentity() throws -> CKUserIdentity {
        let info = try readOptional { try $0.readLookupInfo() }
        let name = try readOptional { reader in
            var person = Person()
            person.nameParts = try person.nameParts.map { _ in try reader.readText("a part of a name") }
            return PersonNameComponents(person)
        }
        let recordID = try readOptional { try $0.readRecordID() }
        return CKUserIdentity(
            lookupInfo: info, nameComponents: name, userRecordID: recordID,
            hasiCloudAccount: try read(UInt8.self, "whether there is an account") == 1)
    }
}

extension Person {
    /// A person of whom only the name is known. Phonetic representations are not kept.
    init(_ components: PersonNameComponents) {
        self.init()
        nameParts = [
            components.namePrefix, components.givenName, components.middleName, components.familyName,
            components.nameSuffix, components.nickname,
        ].map { $0 ?? "" }
    }
}

extension PersonNameComponents {
    /// Reads a name in an archive from Apple's platforms; nil if no part of it is known.
    fileprivate init?(_ archive: ArchiveReader, _ key: String) {
        func part(_ name: String) -> String? { archive.text(key, "NS.nameComponentsPrivate", "NS.\(name)") }
        self.init()
        namePrefix = part("namePrefix")
        givenName = part("givenName")
        middleName = part("middleName")
        familyName = part("familyName")
        nameSuffix = part("nameSuffix")
        nickname = part("nickname")
        if Person(self).nameParts.allSatisfy(\.isEmpty) { return nil }
    }

    /// The name of a person.
    init(_ person: Person) {
        func known(_ part: String) -> String? { part.isEmpty ? nil : part }
        self.init()
        namePrefix = known(person.namePrefix)
        givenName = known(person.givenName)
        middleName = known(person.middleName)
        familyName = known(person.familyName)
        nameSuffix = known(person.nameSuffix)
        nickname = known(person.nickname)
    }
}
