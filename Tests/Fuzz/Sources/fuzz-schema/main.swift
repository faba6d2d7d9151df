import FuzzedInputs
import FuzzDriver

fuzz { _ = FuzzBodies.schema($0) }
