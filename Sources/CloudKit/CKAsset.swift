import Foundation
import StrataModel

/// A file that belongs to a record.
///
/// ```swift
/// record["photo"] = CKAsset(fileURL: URL(fileURLWithPath: "/tmp/photo.jpg"))
/// ```
// @unchecked: its one property is a constant.
public final class CKAsset: NSObject, CVarArg, @unchecked Sendable {
    enum Source: Sendable, Hashable {
        /// The caller's, to be copied when the record is saved.
        case file(URL)
        /// What the store has.
        case stored(FieldValue.Asset)
    }

    let source: Source

    /// An asset of a file, which is copied when the record is saved and stays the caller's.
    public init(fileURL: URL) {
        source = .file(fileURL)
        super.init()
    }

    init(stored asset: FieldValue.Asset) {
        source = .stored(asset)
        super.init()
    }

    /// The file that was passed, or a copy of what is stored; nil where there is none.
    public var fileURL: URL? {
        if case .file(let url) = source { url } else { nil }
    }

    /// Nil for a file of the caller.
    var storedValue: FieldValue? {
        if case .stored(let asset) = source { .asset(asset) } else { nil }
    }

    public override var description: String { "<CKAsset: \(fileURL?.path ?? "no file")>" }
    public override var debugDescription: String { description }
}
