package shop;

import java.util.ArrayList;
import java.util.List;

/** The items that a customer wants to buy. */
public class Cart {
    enum State { OPEN, PAID }

    static int carts;
    private final List<String> items = new ArrayList<>();
    private int total;
    private double tax;
    private State state;
    private Address address;
    private Cart next;
    Long paidAt;
    private int secret;
    private long[] sums;

    public Cart() { carts++; }

    public void add(String item, int price) {
        items.add(item);
        total += price;
        tax = total / 10.0;
    }

    public void split(int price) {
        sums = new long[2];
        sums[price % 2] = price;
    }

    public void pay(String street) {
        state = State.PAID;
        address = new Address(street);
        paidAt = 7L;
    }

    public void follow(Cart next) { this.next = next; }

    public void hide(int secret) { this.secret = secret; }

    public int getTotal() { return total; }

    public double getTax() { return tax; }

    public boolean isPaid() { return state == State.PAID; }

    State state() { return state; }

    public int count() { return items.size(); }

    public Address getAddress() { return address; }

    public Cart getNext() { return next; }

    long[] sums() { return sums; }

    boolean isHidden() { throw new IllegalStateException(); }

    /** The address of delivery. */
    static class Address {
        private String street;

        Address(String street) { this.street = street; }

        public String getStreet() { return street; }
    }
}
