import StrataModel

extension FuzzBodies {
    /// Any text as a schema: it is read, or its mistake has a place; what is read is written as a text that reads the
    /// same.
    ///
    /// - Returns: whether it was read.
    @discardableResult
    package static func schema(_ input: UnsafeRawBufferPointer) -> Bool {
        do {
            let schema = try SchemaDefinition(reading: String(decoding: input, as: UTF8.self))
            let again = try? SchemaDefinition(reading: schema.text)
            precondition(again == schema.sorted, "what was written reads the same")
            precondition(again?.text == schema.text, "a schema has one text")
            return true
        } catch {
            let context = (error as? StrataError)?.context
            precondition(context?.line ?? 0 > 0 && context?.column ?? 0 > 0, "a mistake has a place")
            return false
        }
    }
}
