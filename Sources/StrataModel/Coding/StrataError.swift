/// An error of the engine: its kind, a fixed sentence, and its location.
///
/// The message never changes with the data, so errors can be counted and grouped; the variable parts are in
/// ``context``.
///
/// ```swift
/// do { _ = try SegmentedLog.open(at: "Notes.strata") } catch let error as StrataError where error.code == .locked {
///     print(error.context.found ?? "another process", "is writing")
/// }
/// ```
public struct StrataError: Error, Sendable, CustomStringConvertible {
    /// The kind of an error. Later versions may add codes.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// The location of the error and the details found there. Every part is optional.
    public struct Context: Sendable, Hashable {
        /// The first offset of the segment, which is also its name.
        public var segment: UInt64?
        /// The offset of the commit.
        public var offset: UInt64?
        /// The byte position in the file or buffer.
        public var position: UInt64?
        /// The number of the frame, in errors of the views' files.
        public var page: UInt32?
        public var path: String?
        public var expected: String?
        public var found: String?
        /// The line in a text. Lines and columns count from 1.
        public var line: Int?
        public var column: Int?
        /// The operating system's error number.
        public var errno: Int32?

        public init(
            segment: UInt64? = nil, offset: UInt64? = nil, position: UInt64? = nil, page: UInt32? = nil,
            path: String? = nil, expected: String? = nil, found: String? = nil, line: Int? = nil, column: Int? = nil,
            errno: Int32? = nil
        ) {
            self.segment = segment
            self.offset = offset
            self.position = position
            self.page = page
            self.path = path
            self.expected = expected
            self.found = found
            self.line = line
            self.column = column
            self.errno = errno
        }
    }

    /// The content, out of line: otherwise every result that may be an error would have room for it and copy that room.
    private final class Content: Sendable {
        let code: Code
        let message: StaticString
        let context: Context
        let cause: (any Error)?

        init(_ code: Code, _ message: StaticString, _ context: Context, cause: (any Error)?) {
            self.code = code
            self.message = message
            self.context = context
            self.cause = cause
        }
    }

    private var content: Content

    public var code: Code { content.code }
    public var message: String { content.message.description }
    public var cause: (any Error)? { content.cause }

    public var context: Context {
        get { content.context }
        set { content = Content(content.code, content.message, newValue, cause: content.cause) }
    }

    public init(_ code: Code, _ message: StaticString, _ context: Context = Context(), cause: (any Error)? = nil) {
        content = Content(code, message, context, cause: cause)
    }

    /// The error on one line: the sentence, then the known parts of the context.
    public var description: String {
        var parts: [String] = []
        if let path = context.path { parts.append("in \(path)") }
        if let segment = context.segment { parts.append("segment \(segment)") }
        if let offset = context.offset { parts.append("offset \(offset)") }
        if let page = context.page { parts.append("frame \(page)") }
        if let position = context.position { parts.append("position \(position)") }
        if let line = context.line { parts.append("line \(line)") }
        if let column = context.column { parts.append("column \(column)") }
        if let expected = context.expected { parts.append("expected \(expected)") }
        if let found = context.found { parts.append("found \(found)") }
        let place = parts.isEmpty ? "" : " [" + parts.joined(separator: ", ") + "]"
        let reason = cause.map { "; because: \($0)" } ?? ""
        return "\(message)\(place) (\(code.rawValue))\(reason)"
    }

    /// Returns the same error with missing parts of the context filled in.
    public func located(path: String? = nil, segment: UInt64? = nil, offset: UInt64? = nil) -> StrataError {
        var context = context
        context.path = context.path ?? path
        context.segment = context.segment ?? segment
        context.offset = context.offset ?? offset
        var located = self
        located.context = context
        return located
    }
}

extension StrataError.Code {
    // The data on disk does not follow the format.
    public static let wrongMagic = Self(rawValue: "wrongMagic")
    public static let newerFormat = Self(rawValue: "newerFormat")
    public static let badChecksum = Self(rawValue: "badChecksum")
    public static let brokenChain = Self(rawValue: "brokenChain")
    public static let brokenSequence = Self(rawValue: "brokenSequence")
    public static let impossibleLength = Self(rawValue: "impossibleLength")
    public static let missingSegment = Self(rawValue: "missingSegment")
    public static let foreignSegment = Self(rawValue: "foreignSegment")
    public static let unsealedSegment = Self(rawValue: "unsealedSegment")
    public static let malformed = Self(rawValue: "malformed")
    public static let notAStore = Self(rawValue: "notAStore")

    // The operating system or another process prevented the call.
    public static let locked = Self(rawValue: "locked")
    public static let notFound = Self(rawValue: "notFound")
    public static let alreadyExists = Self(rawValue: "alreadyExists")
    public static let permissionDenied = Self(rawValue: "permissionDenied")
    public static let readOnlyMedium = Self(rawValue: "readOnlyMedium")
    public static let noSpace = Self(rawValue: "noSpace")
    public static let interrupted = Self(rawValue: "interrupted")
    public static let inputOutput = Self(rawValue: "inputOutput")
    public static let directoryGone = Self(rawValue: "directoryGone")

    // An asset's file is missing or wrong: the caller's file or the store's.
    public static let assetFileNotFound = Self(rawValue: "assetFileNotFound")
    public static let assetFileModified = Self(rawValue: "assetFileModified")
    public static let assetNotAvailable = Self(rawValue: "assetNotAvailable")

    // An encrypted value cannot be decrypted.
    public static let keyMissing = Self(rawValue: "keyMissing")
    public static let keyDestroyed = Self(rawValue: "keyDestroyed")
    public static let sealBroken = Self(rawValue: "sealBroken")

    // The value has been erased for good.
    public static let erased = Self(rawValue: "erased")

    // The call is invalid, or the store cannot execute it.
    public static let invalidArgument = Self(rawValue: "invalidArgument")
    public static let tooLarge = Self(rawValue: "tooLarge")
    public static let outOfRange = Self(rawValue: "outOfRange")
    public static let closed = Self(rawValue: "closed")
    public static let refusingWrites = Self(rawValue: "refusingWrites")
    public static let viewsDamaged = Self(rawValue: "viewsDamaged")
    public static let onlyRead = Self(rawValue: "onlyRead")
    public static let outcomeUnknown = Self(rawValue: "outcomeUnknown")
}
