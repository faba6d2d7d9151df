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
/// Saving copies the file's bytes and leaves the file alone; its name and dates are not kept (B25). A fetched asset can
/// be saved again, in the same record or another one, without copying.
// @unchecked: its one property is a constant.
public final class CKAsset: NSObject, NSSecureCoding, CVarArg, @unchecked Sendable {
    enum Source: Sendable {
        /// A file of the caller, copied when the record is saved.
        case file(URL)
        /// An asset of a store and the caller's copy of it; nil where the store is unknown.
        case stored(FieldValue.Asset, StagedCopy?)
    }

    let source: Source

    /// Creates an asset of a file. Saving the record copies the file, which remains the caller's.
    public init(fileURL: URL) {
        source = .file(fileURL)
        super.init()
    }

    init(stored asset: FieldValue.Asset, _ copy: StagedCopy? = nil) {
        source = .stored(asset, copy)
        super.init()
    }

    /// The file that was passed, or a copy of the fetched asset, created on first use; nil if there is none.
    ///
    /// Each fetch has its own file, in a directory for temporary files (B254). The file stays at least as long as the
    /// asset or its record does, and is deleted at the latest when the store is closed (B26): move or copy it to keep
    /// it.
    public var fileURL: URL? {
        switch source {
        case .file(let url): url
        case .stored(_, let copy): copy?.url
        }
    }

    /// The stored asset; nil for a file of the caller.
    var storedValue: FieldValue.Asset? {
        if case .stored(let asset, _) = source { asset } else { nil }
    }

    public override var description: String {
        switch source {
        case .file(let url): "<CKAsset: \(url.path)>"
        case .stored(let asset, _): "<CKAsset: \(asset.size) bytes>"
        }
    }

    // MARK: NSSecureCoding

    private static let fileKey = "AssetFileURL"

    /// Encodes the file's location, not its bytes and not the store's name for them.
    public func encode(with coder: NSCoder) {
        guard coder.allowsKeyedCoding, let fileURL else { return }
        coder.encode(NSURL(string: fileURL.absoluteString), forKey: Self.fileKey)
    }

    /// Decodes an asset of the file that the archive names; nil if the archive names none. The file may no longer
    /// exist: saving the asset fails then.
    public init?(coder: NSCoder) {
        let archive = ArchiveReader(coder)
        guard let fileURL = archive.url(Self.fileKey), archive.isIntact else { return nil }
        source = .file(fileURL)
        super.init()
    }
}
