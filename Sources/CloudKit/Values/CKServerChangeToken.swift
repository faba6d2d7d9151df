import Foundation

/// An opaque position in the changes of a database or zone. Keep it, and pass it to the next fetch.
///
/// ```swift
/// let saved = try NSKeyedArchiver.archivedData(withRootObject: token, requiringSecureCoding: true)
/// let token = try NSKeyedUnarchiver.unarchivedObject(ofClass: CKServerChangeToken.self, from: saved)
/// ```
// @unchecked: its one property is a constant.
public final class CKServerChangeToken: NSObject, NSSecureCoding, NSCopying, CVarArg, @unchecked Sendable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
        super.init()
    }

    public override func isEqual(_ object: Any?) -> Bool { (object as? CKServerChangeToken)?.bytes == bytes }
    public override var hash: Int { bytes.hashValue }
    public override var description: String { "<CKServerChangeToken: \(Data(bytes).base64EncodedString())>" }

    // MARK: NSSecureCoding, NSCopying

    private static let block = "CKServerChangeToken"

    public func encode(with coder: NSCoder) {
        ArchiveBlock.write(Self.block, to: coder) { $0.append(bytes: bytes) }
    }

    public init?(coder: NSCoder) {
        let block = ArchiveBlock.read(Self.block, from: coder) { Array($0.readRemainingBytes()) }
        let archive = ArchiveReader(coder)
        guard let bytes = block ?? archive.data("ChangeTokenData"), archive.isIntact else { return nil }
        self.bytes = bytes
        super.init()
    }
}
