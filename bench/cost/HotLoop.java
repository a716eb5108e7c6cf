/** A hot loop for the cost of state coverage: 60 million iterations over an array and fields. The argument is the number of rounds. */
public class HotLoop {
    private final int[] data = new int[1000];
    private long sum;
    private int rounds;

    private void add(int value) {
        sum += value;
    }

    void run(int times) {
        for (int round = 0; round < times; round++) {
            for (int index = 0; index < data.length; index++) {
                data[index] += index ^ round;
                if (index >= 0) {
                    add(data[index]);
                }
            }
            rounds++;
        }
    }

    public static void main(String[] arguments) {
        HotLoop loop = new HotLoop();
        loop.run(arguments.length > 0 ? Integer.parseInt(arguments[0]) : 60_000);
        if (loop.rounds == 0) {
            throw new AssertionError("no round");
        }
        System.out.println(loop.sum);
    }
}
