/// Converts times of the engine, in microseconds since 1970, from and to field values, in seconds since 2001.
public enum EngineDate {
    private static let referenceSeconds = 978_307_200.0

    public static func seconds(_ microseconds: Int64) -> Double { Double(microseconds) / 1_000_000 - referenceSeconds }

    /// Returns an approximate time, since a double has fewer digits than a date.
    public static func microseconds(_ seconds: Double) -> Double { (seconds + referenceSeconds) * 1_000_000 }
}
