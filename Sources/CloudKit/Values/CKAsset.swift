import Foundation
import StrataModel

/// A file that belongs to a record.
///
/// ```swift
/// record["photo"] = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/photo.jpg"))
/// try await database.save(record)
///
/// let fetched = try await database.record(for: record.recordID)
/// if let url = (fetched["photo"] as? CKAsset)?.fileURL { show(try Data(contentsOf: url)) }
/// ```
///
/// Saving copies the file's bytes and leaves the file alone; its name and dates are not kept (B25). An asset that was
/// fetched can be saved again, in the same record or another one: nothing is copied then.
// @unchecked: its one property is a constant.
public final class CKAsset: NSObject, NSSecureCoding, CVarArg, @unchecked Sendable {
    enum Source: Sendable {
        /// The caller's, to be copied when the record is saved.
        case file(URL)
        /// What a store has, and the caller's copy of it; nil where nobody knows the store.
        case stored(FieldValue.Asset, StagedCopy?)
    }

    let source: Source

    /// An asset of a file, which is copied when the record is saved and stays the caller's.
    public init(fileURL: URL) {
        source = .file(fileURL)
        super.init()
    }

    init(stored asset: FieldValue.Asset, _ copy: StagedCopy? = nil) {
        source = .stored(asset, copy)
        super.init()
    }

    /// The file that was passed, or a copy of what was fetched, made now; nil if there is none.
    ///
    /// Each fetch has a file of its own, in a directory for temporary files (B254). It stays at least as long as the
    /// asset or its record does, and goes at the latest when the store is closed (B26): move or copy what is to be
    /// kept.
    public var fileURL: URL? {
        switch source {
        case .file(let url): url
        case .stored(_, let copy): copy?.url
        }
    }

    /// Nil for a file of the caller.
    var storedValue: FieldValue.Asset? {
        if case .stored(let asset, _) = source { asset } else { nil }
    }

    public override var description: String {
        switch source {
        case .file(let url): "<CKAsset: \(url.path)>"
        case .stored(let asset, _): "<CKAsset: \(asset.size) bytes>"
        }
    }

    public override var debugDescription: String { description }

    // MARK: NSSecureCoding

    public static var supportsSecureCoding: Bool { true }

    private static let fileKey = "AssetFileURL"

    /// Writes where the file is, not its bytes and not what a store calls them.
    public func encode(with coder: NSCoder) {
        guard coder.allowsKeyedCoding, let fileURL else { return }
        coder.encode(NSURL(string: fileURL.absoluteString), forKey: Self.fileKey)
    }

    /// An asset of the file that the archive names, which need not be there any more: saving the asset fails then.
    /// Nil if the archive names none.
    public init?(coder: NSCoder) {
        let archive = ArchiveReader(coder)
        guard let url = archive.object(NSURL.self, Self.fileKey), archive.isIntact,
            let fileURL = URL(string: url.absoluteString)
        else { return nil }
        source = .file(fileURL)
        super.init()
    }
}
