import StrataModel

/// Prints what a client keeps: tokens and cursors.
enum SealedText {
    /// Returns sealed bytes as base64; nil, with a note for the first of them, if the store has no secret to seal with.
    static func text(
        _ what: String, by command: String, isFirst: Bool, _ bytes: () throws -> [UInt8]
    ) -> String? {
        do { return Base64.text(try bytes()) } catch {
            if isFirst { Diagnostics.remark("no \(what) can be made: \(error)", by: command) }
            return nil
        }
    }
}
